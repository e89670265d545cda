import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { newDatabase, petstore, type Ran } from "../support/command.js";

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** A directory with a database and a file to import. */
function directoryWith(
  name: string,
  content: string,
): {
  readonly pathOf: (name: string) => string;
  readonly importIt: (...args: readonly string[]) => Promise<Ran>;
} {
  const database = newDatabase();
  const pathOf = (other: string): string => join(dirname(database), other);
  writeFileSync(pathOf(name), content);
  return {
    pathOf,
    importIt: (...args) =>
      petstore("pets", "import", pathOf(name), "--database", database, ...args),
  };
}

describe("the file for rejected lines", () => {
  const bad = lines("name,categoryId", "Rex,1", "Rex,x");

  it("can be corrected and imported, and is not written without --rejects", async () => {
    const { pathOf, importIt } = directoryWith("pets.csv", bad);
    const rejects = pathOf("rejects.csv");
    expect((await importIt()).error).toMatch(/1 line could not be imported$/);
    expect(existsSync(rejects)).toBe(false);
    expect((await importIt("--rejects", rejects)).error).toMatch(
      /1 line could not be imported: see .*rejects\.csv$/,
    );
    expect(readFileSync(rejects, "utf8")).toBe(lines("name,categoryId", "Rex,x"));

    writeFileSync(rejects, lines("name,categoryId", "Rex,3"));
    const corrected = await petstore("pets", "import", rejects, "--database", newDatabase());
    expect(corrected).toMatchObject({ code: 0, out: "imported 1 pet" });
  });

  it("is never appended to by another import, except by one that resumes", async () => {
    const { pathOf, importIt } = directoryWith("pets.csv", bad + lines("Tom,y"));
    const rejects = pathOf("rejects.csv");
    await importIt("--rejects", rejects);
    const refused = await importIt("--rejects", rejects);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toMatch(
      /^petstore: cannot write rejected lines to .*: it already exists$/,
    );
    await importIt("--rejects", rejects, "--from-line", "4");
    expect(readFileSync(rejects, "utf8")).toBe(lines("name,categoryId", "Rex,x", "Tom,y", "Tom,y"));
    writeFileSync(rejects, "");
    await importIt("--rejects", rejects, "--from-line", "4");
    expect(readFileSync(rejects, "utf8")).toBe(lines("name,categoryId", "Tom,y"));
  });

  it("is removed when it is empty", async () => {
    const huge = JSON.stringify({ name: "x".repeat(2 ** 20), categoryId: 1 });
    const { pathOf, importIt } = directoryWith("pets.ndjson", lines(huge));
    const rejects = pathOf("rejects.ndjson");
    expect((await importIt("--rejects", rejects)).error).toMatch(/1 line could not be imported$/);
    expect(existsSync(rejects)).toBe(false);
  });

  it.each([
    ["a directory", ".", "it is a directory"],
    ["in a file", "pets.csv/rejects.csv", "its directory is a file"],
    ["in no directory", "nowhere/rejects.csv", "it does not exist"],
    ["a name that is too long", "n".repeat(300), "its name is too long"],
  ])("is refused before the import when it is %s", async (_, name, reason) => {
    const { pathOf, importIt } = directoryWith("pets.csv", bad);
    const refused = await importIt("--rejects", pathOf(name), "--from-line", "2");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toContain(`: ${reason}`);
  });

  it("is never the imported file or the database", async () => {
    const { pathOf, importIt } = directoryWith("pets.csv", bad);
    await importIt();
    for (const [name, reason] of [
      ["pets.csv", "it is the file that is imported"],
      ["pets.db", "it is a file of the database"],
    ] as const) {
      const refused = await importIt("--rejects", pathOf(name), "--from-line", "2");
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toContain(reason);
    }
    expect(readFileSync(pathOf("pets.csv"), "utf8")).toBe(bad);
  });
});
