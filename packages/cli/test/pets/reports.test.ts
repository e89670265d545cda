import { existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCommand } from "@petstore/cli";
import { newDatabase, petstore, writableTo } from "../support/command.js";
import { fillUpAfter } from "../support/filling-up.js";

const ERASE = "\r\u001B[K";
const REX = '{"name":"Rex","categoryId":1}\n';

/** All that a command writes to a terminal, or to something else, when its input is a pet. */
async function shownOn(isTTY: boolean, ...args: readonly string[]): Promise<string> {
  const shown: string[] = [];
  const stderr = writableTo((part, done) => {
    shown.push(part.toString());
    done();
  });
  const print = (line: string) => shown.push(`${line}\n`);
  const terminal = { out: print, error: print, written: () => Promise.resolve(undefined) };
  const streams = { stdin: new PassThrough().end(REX), stdout: new PassThrough() };
  await runCommand(args, terminal, { ...streams, stderr: Object.assign(stderr, { isTTY }) });
  return shown.join("");
}

it("a terminal shows a bar that is erased for every other line", async () => {
  const database = newDatabase();
  const file = `${database}.ndjson`;
  writeFileSync(file, `${REX.repeat(3_000)}bad\n${REX.repeat(500)}`);
  const full = `${"█".repeat(30)} 100.0 %`;
  expect(await shownOn(true, "pets", "import", file, "--database", database)).toBe(
    [
      `petstore: new database ${database}\n`,
      `${ERASE}${"█".repeat(19)}${"░".repeat(11)}  62.4 % 2,184 pets`,
      `${ERASE}line 3001: It is not JSON in UTF-8.\n`,
      `${ERASE}${full} 3,500 pets`,
      `${ERASE}imported 3,500 pets\npetstore: 1 line could not be imported\n`,
    ].join(""),
  );
  const exported = await shownOn(true, "pets", "export", `${file}.copy`, "--database", database);
  expect(exported.split(ERASE).slice(1, 3)).toEqual(["100 pets", "200 pets"]);
  expect(exported.endsWith(`3,500 pets${ERASE}exported 3,500 pets\n`)).toBe(true);
});

it.each([
  ["a terminal shows only a count while the size of the input is unknown", true],
  ["a stream that is not a terminal shows no progress", false],
])("%s", async (_, isTTY) => {
  const database = newDatabase();
  const shown = await shownOn(isTTY, "pets", "import", "-", "--database", database);
  const count = isTTY ? `${ERASE}1 pet${ERASE}` : "";
  expect(shown).toBe(`petstore: new database ${database}\n${count}imported 1 pet\n`);
});

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** A folder with a database and a file to import, `pets.csv`. */
function folderWith(content: string) {
  const database = newDatabase();
  const pathOf = (name: string): string => join(dirname(database), name);
  writeFileSync(pathOf("pets.csv"), content);
  const [rejects, options] = [pathOf("rejects.csv"), ["--database", database]];
  const importIt = (...args: readonly string[]) =>
    petstore("pets", "import", pathOf("pets.csv"), ...options, ...args);
  return { pathOf, rejects, importIt, read: () => readFileSync(rejects, "utf8") };
}

describe("the file for rejected lines", () => {
  const bad = lines("name,categoryId", "Rex,1", "Rex,x");

  it("can be corrected and imported, and is not written without --rejects", async () => {
    const { rejects, importIt, read } = folderWith(bad);
    expect((await importIt()).error).toMatch(/1 line could not be imported$/);
    expect(existsSync(rejects)).toBe(false);
    expect((await importIt("--rejects", rejects)).error).toMatch(
      /1 line could not be imported: see .*rejects\.csv$/,
    );
    expect(read()).toBe(lines("name,categoryId", "Rex,x"));
    writeFileSync(rejects, read().replace(",x", ",3"));
    const corrected = await petstore("pets", "import", rejects, "--database", newDatabase());
    expect(corrected).toMatchObject({ code: 0, out: "imported 1 pet" });
  });

  it("is never appended to by another import, except by one that resumes", async () => {
    const { rejects, importIt, read } = folderWith(bad + lines("Tom,y"));
    await importIt("--rejects", rejects);
    const refused = await importIt("--rejects", rejects);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toMatch(
      /^petstore: cannot write rejected lines to .*: it already exists$/,
    );
    await importIt("--rejects", rejects, "--from-line", "4");
    expect(read()).toBe(lines("name,categoryId", "Rex,x", "Tom,y", "Tom,y"));
    writeFileSync(rejects, "");
    await importIt("--rejects", rejects, "--from-line", "4");
    expect(read()).toBe(lines("name,categoryId", "Tom,y"));
  });

  it("is not the input under another name, and touches no file of its own name with .unfinished", async () => {
    const { pathOf, rejects, importIt } = folderWith(bad);
    linkSync(pathOf("pets.csv"), pathOf("hard.csv"));
    symlinkSync(pathOf("pets.csv"), pathOf("soft.csv"));
    for (const name of ["hard.csv", "soft.csv"]) {
      const refused = await importIt("--rejects", pathOf(name), "--from-line", "2");
      expect(refused.error).toContain("it is the file that is imported");
    }
    writeFileSync(`${rejects}.unfinished`, "mine");
    await importIt("--rejects", rejects);
    expect(readFileSync(`${rejects}.unfinished`, "utf8")).toBe("mine");
    expect(readFileSync(pathOf("pets.csv"), "utf8")).toBe(bad);
  });

  it("has each line once when an import that the storage stopped is resumed, and none when nothing was imported", async () => {
    const text = lines(
      "name,categoryId",
      ...Array.from({ length: 55 }, (_, n) => `Rex,${n % 2 ? "x" : n}`),
    );
    const { pathOf, rejects, importIt, read } = folderWith(text);
    await importIt("--from-line", "99");
    for (const [room, pattern] of [
      [0, undefined],
      [9, /--from-line (\d+)/],
    ] as const) {
      const filling = fillUpAfter(pathOf("pets.db"), room);
      const { error } = await importIt("--rejects", rejects);
      filling.end();
      expect(existsSync(rejects)).toBe(pattern !== undefined);
      const [, line = ""] = pattern?.exec(error) ?? [];
      if (pattern) await importIt("--rejects", rejects, "--from-line", line);
    }
    expect(read()).toBe(lines("name,categoryId", ...Array<string>(27).fill("Rex,x")));
  });

  it("is removed when it is empty", async () => {
    const { rejects, importIt } = folderWith(`{"name":"${"x".repeat(2 ** 20)}","categoryId":1}\n`);
    const options = ["--format", "ndjson", "--rejects", rejects];
    expect((await importIt(...options)).error).toMatch(/1 line could not be imported$/);
    expect(existsSync(rejects)).toBe(false);
  });

  it.each([
    [".", "it is not an ordinary file"],
    ["pets.csv/rejects.csv", "its directory is a file"],
    ["nowhere/rejects.csv", "it does not exist"],
    ["n".repeat(300), "its name is too long"],
    ["pets.csv", "it is the file that is imported"],
    ["pets.db", "it is a file of the database"],
  ])("is refused before the import when it is %s: %s", async (name, reason) => {
    const { pathOf, importIt } = folderWith(bad);
    await importIt();
    const refused = await importIt("--rejects", pathOf(name), "--from-line", "2");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toContain(`: ${reason}`);
    expect(readFileSync(pathOf("pets.csv"), "utf8")).toBe(bad);
  });
});
