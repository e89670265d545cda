import type { Result } from "neverthrow";
import { describe, expect, it } from "vitest";
import { openCsv } from "../../src/pets/open-csv.js";

/** What these entries are, read together under a heading of two columns. */
function read(...texts: readonly string[]): readonly Result<unknown, string>[] {
  const [heading, ...entries] = ["name,categoryId", ...texts].map((text, index) => ({
    first: index + 1,
    last: index + 1,
    bytes: Buffer.from(text),
  }));
  return openCsv(heading)._unsafeUnwrap()(entries);
}

describe("entries of CSV", () => {
  it("are no pets with too many fields, nor with too few", () => {
    expect(read("a,1,x", "b").map((each) => each._unsafeUnwrapErr())).toEqual([
      "It has 3 fields instead of 2.",
      "It has 1 field instead of 2.",
    ]);
  });

  it("are one each, also when they could be read together as fewer", () => {
    const all = read("a,1", '"b', 'c",2', "d,3");
    expect(all.map((each) => each.isOk())).toEqual([true, false, false, true]);
  });
});
