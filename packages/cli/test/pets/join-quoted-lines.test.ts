import { describe, expect, it } from "vitest";
import type { Entry } from "../../src/pets/entry.js";
import { joinQuotedLines } from "../../src/pets/join-quoted-lines.js";

/** The entries of these lines, and how many lines were read when each came out. */
async function joined(
  lines: readonly string[],
  longest: number,
): Promise<readonly { readonly text: string; readonly after: number }[]> {
  let after = 0;
  async function* read(): AsyncGenerator<readonly Entry[], void> {
    for (const line of lines) {
      after += 1;
      yield await Promise.resolve([{ first: after, last: after, bytes: Buffer.from(line) }]);
    }
  }
  const all: { readonly text: string; readonly after: number }[] = [];
  for await (const entries of joinQuotedLines(read(), longest)) {
    for (const { bytes } of entries) all.push({ text: bytes?.toString() ?? "", after });
  }
  return all;
}

async function textsOf(lines: readonly string[], longest: number): Promise<readonly string[]> {
  return (await joined(lines, longest)).map(({ text }) => text);
}

describe("the lines of CSV", () => {
  it("are joined while a quote is open, up to the longest record", async () => {
    expect(await textsOf(["a", '"b', "c", 'd"', "e"], 8)).toEqual(["a", '"b\nc\nd"', "e"]);
    const tooLong = ['"b', "c", "d1", "e"];
    expect(await textsOf(tooLong, 6)).toEqual(tooLong);
  });

  it("stay single after a quote that the file does not close", async () => {
    expect(await textsOf(['"a', "b", "c"], 100)).toEqual(['"a', "b", "c"]);
  });

  it("are joined again from the very line that makes a record with a stray quote too long", async () => {
    expect(await textsOf(['"a', "b", "c", '"d', 'e"', "f"], 7)).toEqual([
      ...['"a', "b", "c", '"d\ne"', "f"],
    ]);
  });

  it("are held no longer than a record may be, also when they are blank", async () => {
    const all = await joined(['"a', ...Array<string>(50).fill("")], 10);
    expect(all[0]).toEqual({ text: '"a', after: 10 });
    expect(all).toHaveLength(51);
  });
});
