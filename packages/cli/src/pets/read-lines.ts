import { LONGEST_ENTRY, type Entry } from "./entry.js";

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
/** Shared, because a file may have millions of blank lines. */
const NOTHING = Buffer.alloc(0);

/**
 * The lines of a file, those of each chunk together. Holds no more of a line than it may be long. A
 * byte order mark before the first is left out.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  longest = LONGEST_ENTRY,
): AsyncGenerator<readonly Entry[], void> {
  let pending: Buffer[] = [];
  let length = 0;
  let number = 0;

  const extend = (part: Buffer): void => {
    if (part.length === 0) return;
    length += part.length;
    if (length <= longest) pending.push(part);
    else pending = [];
  };
  const end = (): Entry => {
    number += 1;
    const whole = length === 0 ? NOTHING : Buffer.concat(pending);
    const bytes = length <= longest ? withoutMark(whole, number) : undefined;
    pending = [];
    length = 0;
    return { first: number, last: number, bytes };
  };

  for await (const chunk of chunks) {
    const lines: Entry[] = [];
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      extend(chunk.subarray(start, at));
      lines.push(end());
      start = at + 1;
    }
    extend(chunk.subarray(start));
    yield lines;
  }
  if (length > 0) yield [end()];
}

function withoutMark(bytes: Buffer, number: number): Buffer {
  const marked = number === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  return marked ? bytes.subarray(3) : bytes;
}
