import { describe, expect, it } from "vitest";
import type { Entry } from "../../src/pets/entry.js";
import { joinQuotedLines } from "../../src/pets/join-quoted-lines.js";

/** The entries of these lines, and how many lines were read when each came out. */
async function joined(
  lines: readonly (string | undefined)[],
  longest: number,
): Promise<readonly { readonly text: string; readonly after: number }[]> {
  let after = 0;
  async function* read(): AsyncGenerator<readonly Entry[], void> {
    for (const line of lines) {
      after += 1;
      const bytes = line === undefined ? undefined : Buffer.from(line);
      yield await Promise.resolve([{ first: after, last: after, bytes }]);
    }
  }
  const all: { readonly text: string; readonly after: number }[] = [];
  for await (const entries of joinQuotedLines(read(), longest)) {
    for (const { bytes } of entries) all.push({ text: bytes?.toString() ?? "", after });
  }
  return all;
}

async function textsOf(
  lines: readonly (string | undefined)[],
  longest: number,
): Promise<readonly string[]> {
  return (await joined(lines, longest)).map(({ text }) => text);
}

describe("the lines of CSV", () => {
  it("are joined while a quote is open, up to the longest record", async () => {
    expect(await textsOf(["a", '"b', "c", 'd"', "e"], 8)).toEqual(["a", '"b\nc\nd"', "e"]);
    const tooLong = ['"b', "c", "d1", "e"];
    expect(await textsOf(tooLong, 6)).toEqual(tooLong);
  });

  it.each([
    ["in the middle of a field", ['screen 5" wide,1', "a", 'b 7"', "c"]],
    ["after white space", [' "a', "b", 'c"']],
    ["after the end of a quoted field", ['"5" wide,"a', "b", 'c"', "d"]],
    ["in the middle of a last field", ['x,"y",5"\r', "b", '"']],
    ["before a carriage return that ends no line", ['"a"\r,"b', 'c"']],
  ])("stay single after a quote %s", async (_, lines) => {
    expect(await textsOf(lines, 100)).toEqual(lines);
  });

  it("are joined from a quote at the beginning of any field, over doubled ones, to its end", async () => {
    const records = [
      ['a,"b', 'c ""d"", e', '","f"'],
      ['"","', '"'],
      ['"""', '"""'],
      ['"a","b', '"\r'],
    ];
    expect(await textsOf(records.flat(), 100)).toEqual(records.map((each) => each.join("\n")));
  });

  it("are joined no further than a line that has a quote out of place", async () => {
    const lines = ['"a', "b", '"c" d', "e", 'f"'];
    expect(await textsOf(lines, 100)).toEqual(['"a\nb\n"c" d', "e", 'f"']);
  });

  it("stay single after a quote that the file does not close", async () => {
    expect(await textsOf(['"a', "b", "c"], 100)).toEqual(['"a', "b", "c"]);
  });

  it("are joined again from the very line that makes a record with a stray quote too long", async () => {
    expect(await textsOf(['"a', "b", "c", '"d', 'e"', "f"], 7)).toEqual([
      ...['"a', "b", "c", '"d\ne"', "f"],
    ]);
  });

  it("stay single around one that is too long to be held", async () => {
    expect(await textsOf(['"a', undefined, 'b"'], 100)).toEqual(['"a', "", 'b"']);
  });

  it("are held no longer than a record may be, also when they are blank", async () => {
    const all = await joined(['"a', ...Array<string>(50).fill("")], 10);
    expect(all[0]).toEqual({ text: '"a', after: 10 });
    expect(all).toHaveLength(51);
  });
});
