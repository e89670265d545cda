import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openRejects } from "../../src/pets/rejects.js";
import { findSource } from "../../src/pets/source.js";
import { newDatabase, petstore, type Ran } from "../support/command.js";

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** A folder with a database and a file to import. */
function placeWith(
  name: string,
  content: string,
): {
  readonly inFolder: (name: string) => string;
  readonly importIt: (...args: readonly string[]) => Promise<Ran>;
} {
  const database = newDatabase();
  const inFolder = (other: string): string => join(dirname(database), other);
  writeFileSync(inFolder(name), content);
  return {
    inFolder,
    importIt: (...args) =>
      petstore("pets", "import", inFolder(name), "--database", database, ...args),
  };
}

describe("the bad lines of an import", () => {
  const bad = lines("name,categoryId", "Rex,1", "Rex,x");

  it("are kept beside the file, under a name that tells the format, and imported from there", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad);
    const rejects = inFolder("pets.rejects.csv");
    expect(await importIt()).toEqual({
      code: 1,
      out: "imported 1 pet",
      error: expect.stringMatching(
        /could not be imported: kept in .*pets\.rejects\.csv$/,
      ) as string,
    });
    expect(readFileSync(rejects, "utf8")).toBe(lines("name,categoryId", "Rex,x"));

    writeFileSync(rejects, lines("name,categoryId", "Rex,3"));
    const database = newDatabase();
    const corrected = await petstore("pets", "import", rejects, "--database", database);
    expect(corrected).toMatchObject({ code: 0, out: "imported 1 pet" });
  });

  it("are never mixed with those of another import: it is refused until they are gone", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad);
    await importIt();
    const refused = await importIt();
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
    expect(refused.error).toMatch(/^petstore: cannot keep bad lines in .*: it is there already \(/);
    rmSync(inFolder("pets.rejects.csv"));
    expect(await importIt()).toMatchObject({ code: 1, out: "imported 1 pet" });
  });

  it("are added to those of the lines before when an import goes on", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad + lines("Tom,y"));
    await importIt();
    await importIt("--from-line", "4");
    const all = lines("name,categoryId", "Rex,x", "Tom,y", "Tom,y");
    expect(readFileSync(inFolder("pets.rejects.csv"), "utf8")).toBe(all);
  });

  it("are counted over all batches", async () => {
    const { importIt } = placeWith("pets.csv", bad + lines("Tom,y", "Tom,4"));
    const { error } = await importIt("--batch", "1");
    expect(error).toMatch(/petstore: 2 lines could not be imported: kept in .*pets\.rejects\.csv$/);
  });

  it("are kept beside the file also when only its folder has a dot in its name", async () => {
    const database = newDatabase();
    const folder = join(dirname(database), "a.b");
    mkdirSync(folder);
    writeFileSync(join(folder, "pets"), "bad\n");
    await petstore("pets", "import", join(folder, "pets"), "--database", database);
    expect(readFileSync(join(folder, "pets.rejects"), "utf8")).toBe("bad\n");
  });

  it("begin with the heading also in a file that is there and empty", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad);
    writeFileSync(inFolder("pets.rejects.csv"), "");
    await importIt("--from-line", "2");
    expect(readFileSync(inFolder("pets.rejects.csv"), "utf8")).toBe(
      lines("name,categoryId", "Rex,x"),
    );
  });

  it("are kept nowhere when that is wanted", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad);
    expect(await importIt("--no-rejects")).toMatchObject({ code: 1, out: "imported 1 pet" });
    expect(existsSync(inFolder("pets.rejects.csv"))).toBe(false);
  });

  it("leave no file when none of them could be held", async () => {
    const huge = JSON.stringify({ name: "x".repeat(2 ** 20), categoryId: 1 });
    const { inFolder, importIt } = placeWith("pets.ndjson", lines(huge));
    expect((await importIt()).error).toMatch(/1 line could not be imported$/);
    expect(existsSync(inFolder("pets.rejects.ndjson"))).toBe(false);
  });

  it("matter only when there are some: a good file needs no place for them", async () => {
    const name = `${"n".repeat(246)}.csv`;
    const good = placeWith(name, lines("name,categoryId", "Rex,1"));
    expect(await good.importIt()).toMatchObject({ code: 0, out: "imported 1 pet" });
    const { inFolder, importIt } = placeWith(name, bad);
    const stopped = await importIt();
    expect(stopped).toMatchObject({ code: 1, out: "imported 1 pet" });
    expect(stopped.error).toMatch(/its name is too long; those just reported are not kept \(/);
    expect(stopped.error).toMatch(/ go on with --from-line 4\.$/);
    expect(readdirSync(dirname(inFolder(name)))).toContain(basename(name));
  });

  it.each([
    ["a folder", ".", "it is a folder"],
    ["in a file", "pets.csv/rejects.csv", "its folder is a file"],
    ["in no folder", "nowhere/rejects.csv", "it is not there"],
    ["with too long a name", "n".repeat(300), "its name is too long"],
  ])(
    "are refused a wanted place that is %s, before anything is imported",
    async (_, name, reason) => {
      const { inFolder, importIt } = placeWith("pets.csv", bad);
      const refused = await importIt("--rejects", inFolder(name), "--from-line", "2");
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toContain(`: ${reason} (`);
    },
  );

  it("are never written into what is imported, nor into the database", async () => {
    const { inFolder, importIt } = placeWith("pets.csv", bad);
    linkSync(inFolder("pets.csv"), inFolder("link.csv"));
    for (const name of ["pets.csv", "link.csv"]) {
      const refused = await importIt("--rejects", inFolder(name), "--from-line", "2");
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toContain("it is the file that is imported");
    }
    await importIt("--no-rejects");
    const database = inFolder("pets.db");
    const refused = await importIt("--rejects", database, "--from-line", "2");
    expect(refused.error).toBe(
      `petstore: cannot keep bad lines in ${database}: it is a file of the database`,
    );
    expect(readFileSync(inFolder("pets.csv"), "utf8")).toBe(bad);
  });

  it("of two imports at once are never mixed", async () => {
    const { inFolder } = placeWith("pets.csv", bad);
    const place = { path: inFolder("rejects.csv"), mayContinue: false, isWanted: true };
    const [one, other] = [await openRejects(place), await openRejects(place)];
    const entry = { first: 2, last: 2, bytes: Buffer.from("Rex,x") };
    expect((await one._unsafeUnwrap().keep([entry], undefined)).isOk()).toBe(true);
    expect((await other._unsafeUnwrap().keep([entry], undefined)).isErr()).toBe(true);
    expect((await one._unsafeUnwrap().keep([entry], undefined)).isOk()).toBe(true);
    expect(readFileSync(place.path, "utf8")).toBe(lines("Rex,x", "Rex,x"));
  });

  it.skipIf(process.platform !== "linux")(
    "have no place beside what is only a name of another file, as /dev/stdin is",
    async () => {
      const source = await findSource("/proc/self/status", process.stdin);
      expect(source._unsafeUnwrap().path).toBeUndefined();
    },
  );
});
