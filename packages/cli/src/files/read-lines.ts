const LINE_FEED = 0x0a;

/** Splits only at line feeds. A line that is longer than `longest` bytes is cut off somewhere behind them. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  longest: number,
): AsyncIterable<readonly Buffer[]> {
  let unfinished: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([unfinished, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    yield lines;
    unfinished = bytes.subarray(start, start + longest + 1);
  }
  if (unfinished.length > 0) yield [unfinished];
}
