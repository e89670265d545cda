import { describe, expect, it } from "vitest";
import { csv } from "../../src/pets/csv.js";
import { isNameOfAnother } from "../../src/pets/name-of-another.js";
import { ndjson } from "../../src/pets/ndjson.js";
import { formatOf } from "../../src/pets/pet-formats.js";

describe("the name of a file", () => {
  it.each(["pets.csv", "PETS.CSV", "a.b/pets.rejects.csv"])("%s suggests CSV", (name) => {
    expect(formatOf(undefined, name)).toBe(csv);
    expect(formatOf("ndjson", name)).toBe(ndjson);
  });

  it.each(["pets.ndjson", "csv", "petscsv", "pets.csv.txt", "a.csv/pets", "-"])(
    "%s suggests NDJSON",
    (name) => {
      expect(formatOf(undefined, name)).toBe(ndjson);
      expect(formatOf("csv", name)).toBe(csv);
    },
  );

  it.skipIf(process.platform === "win32").each([
    ["/dev/stdin", true],
    ["/dev/stdout", true],
    ["/dev/stderr", true],
    ["/dev/../dev//stdin", true],
    ["/dev/fd/3", true],
    ["/proc/self/fd/0", true],
    ["/dev/stdin.csv", false],
    ["/dev/null", false],
    ["/dev/fdx", false],
    ["/process", false],
    ["/home/dev/stdin", false],
    ["dev/stdin", false],
  ])("%s is only a name of what is open already: %s", (name, is) => {
    expect(isNameOfAnother(name)).toBe(is);
  });
});
