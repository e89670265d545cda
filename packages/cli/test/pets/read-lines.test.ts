import { describe, expect, it } from "vitest";
import { readLines } from "../../src/pets/read-lines.js";

/** The lines of a text that comes in chunks of this size; `undefined` for one that is too long. */
async function linesOf(
  text: string,
  size: number,
  longest?: number,
): Promise<readonly (string | undefined)[]> {
  const bytes = Buffer.from(text);
  async function* read(): AsyncGenerator<Buffer, void> {
    for (let at = 0; at < bytes.length; at += size) {
      yield await Promise.resolve(bytes.subarray(at, at + size));
    }
  }
  const lines: (string | undefined)[] = [];
  for await (const entries of readLines(read(), longest)) {
    for (const { first, last, bytes: line } of entries) {
      lines.push(line?.toString());
      expect([first, last]).toEqual([lines.length, lines.length]);
    }
  }
  return lines;
}

describe.each([1, 2, 3, 5, 100])("the lines of a file that is read by %i bytes", (size) => {
  it("are whole, without its byte order mark, the last one also without its end", async () => {
    const text = "\uFEFFone\r\n\n\uFEFFthree 🐈\n four";
    expect(await linesOf(text, size)).toEqual(["one\r", "", "\uFEFFthree 🐈", " four"]);
    expect(await linesOf(`${text}\n`, size)).toHaveLength(4);
  });

  it("are held up to the longest, and counted beyond", async () => {
    const text = "four\nfiver\n4444\nlonger than that\n";
    expect(await linesOf(text, size, 4)).toEqual(["four", undefined, "4444", undefined]);
    expect(await linesOf("four\nfiver", size, 4)).toEqual(["four", undefined]);
  });
});
