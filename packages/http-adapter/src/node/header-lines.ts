/**
 * The values of all lines of a header, in the order received, from Node's raw headers (names and
 * values in turn). `IncomingMessage.headers` would keep the first of two Authorization or Host lines
 * in silence.
 */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length !== name.length || candidate.toLowerCase() !== name) continue;
    lines.push(rawHeaders[index + 1] ?? "");
  }
  return lines;
}
