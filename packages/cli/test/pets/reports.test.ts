import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { runCommand } from "@petstore/cli";
import { newDatabase, petstoreOn, refused, REX, terminalTo } from "../support/command.js";
import { withDatabase, fillUpAfter, lines } from "../support/command.js";

const ERASE = "\r\u001B[K";

/** All that a command writes to a terminal, or to something else, when its input is a pet. */
async function shownOn(stream: object, ...args: readonly string[]): Promise<string> {
  let shown = "";
  const stderr = terminalTo((text) => (shown += text), stream);
  const print = (line: string): void => void (shown += `${line}\n`);
  const terminal = { out: print, error: print, written: () => Promise.resolve(undefined) };
  const stdin = new PassThrough().end(REX);
  await runCommand(args, terminal, { stdin, stdout: new PassThrough(), stderr });
  return shown;
}

it("a terminal shows a bar that is erased for every other line", async () => {
  const database = newDatabase();
  const file = `${database}.ndjson`;
  symlinkSync("real.ndjson", file);
  writeFileSync(file, `${REX.repeat(3_000)}bad\n${REX.repeat(500)}`);
  const full = `${"█".repeat(30)} 100.0 %`;
  expect(await shownOn({}, "pets", "import", file, "--database", database)).toBe(
    [
      `petstore: new database ${database}\n`,
      `${ERASE}${"█".repeat(19)}${"░".repeat(11)}  62.4 % 2,184 pets`,
      `${ERASE}line 3001: It is not JSON in UTF-8.\n`,
      `${ERASE}${full} 3,500 pets`,
      `${ERASE}imported 3,500 pets\npetstore: 1 line could not be imported\n`,
    ].join(""),
  );
  const exported = await shownOn({}, "pets", "export", `${file}.copy`, "--database", database);
  expect(exported.split(ERASE).slice(1, 3)).toEqual(["100 pets", "200 pets"]);
  expect(exported.endsWith(`3,500 pets${ERASE}exported 3,500 pets\n`)).toBe(true);
  const args = ["pets", "import", file, "--database", newDatabase()];
  expect(await shownOn({ columns: 40 }, ...args)).toContain(`${ERASE}2,184 pets${ERASE}`);
});

it.each([
  ["a terminal shows only a count while the size of the input is unknown", true],
  ["a stream that is not a terminal shows no progress", false],
])("%s", async (_, isTTY) => {
  const database = newDatabase();
  const shown = await shownOn({ isTTY }, "pets", "import", "-", "--database", database);
  const count = isTTY ? `${ERASE}1 pet${ERASE}` : "";
  expect(shown).toBe(`petstore: new database ${database}\n${count}imported 1 pet\n`);
});

/** A folder with a database and a file to import, `pets.csv`. */
function folderWith(content: string) {
  const { database, run } = withDatabase();
  const pathOf = (name: string): string => join(dirname(database), name);
  const [file, rejects] = [pathOf("pets.csv"), pathOf("rejects.csv")];
  writeFileSync(file, content);
  const importIt = (...args: readonly string[]) => run("pets", "import", file, ...args);
  const rejectTo = (to: string, ...args: readonly string[]) => importIt("--rejects", to, ...args);
  return { pathOf, file, rejects, importIt, rejectTo, read: () => readFileSync(rejects, "utf8") };
}

const bad = lines("name,categoryId", "Rex,1", "Rex,x");

it("the file for rejected lines can be corrected and imported, is not written without --rejects, and touches no other file", async () => {
  const { rejects, importIt, rejectTo, read } = folderWith(bad);
  writeFileSync(`${rejects}.unfinished`, "mine");
  expect((await importIt()).error).toMatch(/1 line could not be imported$/);
  expect(existsSync(rejects)).toBe(false);
  const { error } = await rejectTo(rejects);
  expect(error).toMatch(/1 line could not be imported: see .*rejects\.csv$/);
  expect(read()).toBe(lines("name,categoryId", "Rex,x"));
  expect(readFileSync(`${rejects}.unfinished`, "utf8")).toBe("mine");
  const corrected = await folderWith(read().replace(",x", ",3")).importIt();
  expect(corrected).toMatchObject({ code: 0, out: "imported 1 pet" });
});

it("the file for rejected lines is never appended to by another import, except by one that resumes", async () => {
  const { rejects, rejectTo, read } = folderWith(bad + lines("Tom,y"));
  await rejectTo(rejects);
  expect((await rejectTo(rejects)).error).toContain(`${rejects}: it already exists`);
  await rejectTo(rejects, "--from-line", "4");
  expect(read()).toBe(lines("name,categoryId", "Rex,x", "Tom,y", "Tom,y"));
  writeFileSync(rejects, "");
  await rejectTo(rejects, "--from-line", "4");
  expect(read()).toBe(lines("name,categoryId", "Tom,y"));
});

it("the file for rejected lines has each line once when an import that the storage stopped is resumed, and none when nothing was imported", async () => {
  const { pathOf, rejects, importIt, rejectTo, read } = folderWith(
    lines("name,categoryId", ...Array.from({ length: 55 }, (_, n) => `Rex,${n % 2 ? "x" : n}`)),
  );
  await importIt("--from-line", "99");
  const rejectUntilFull = async (room: number) => {
    const filling = fillUpAfter(pathOf("pets.db"), room);
    const { error } = await rejectTo(rejects);
    filling.end();
    return error;
  };
  await rejectUntilFull(0);
  expect(existsSync(rejects)).toBe(false);
  const stopped = await rejectUntilFull(9);
  expect(stopped).toContain(`lines could not be imported: see ${rejects}`);
  const [, line = ""] = /--from-line (\d+)/.exec(stopped) ?? [];
  await rejectTo(rejects, "--from-line", line);
  expect(read()).toBe(lines("name,categoryId", ...Array<string>(27).fill("Rex,x")));
});

it("the file for rejected lines is not replaced when another program has written to it meanwhile", async () => {
  const { pathOf, file, rejects, read } = folderWith(bad);
  writeFileSync(rejects, "earlier\n");
  const stderr = terminalTo(() => writeFileSync(rejects, "mine\n"));
  const args = ["--rejects", rejects, "--from-line", "2", "--database", pathOf("pets.db")];
  const { error } = await petstoreOn({ stderr }, "pets", "import", file, ...args);
  const [, kept = ""] = /: see (\S+\.unfinished), because .*: it already exists$/.exec(error) ?? [];
  expect([read(), readFileSync(kept, "utf8")]).toEqual(["mine\n", "earlier\nRex,x\n"]);
});

it("the file for rejected lines is removed when it is empty", async () => {
  const { rejects, rejectTo } = folderWith(`{"name":"${"x".repeat(2 ** 20)}","categoryId":1}\n`);
  const { error } = await rejectTo(rejects, "--format", "ndjson");
  expect(error).toMatch(/1 line could not be imported$/);
  expect(readdirSync(dirname(rejects)).filter((name) => name.startsWith("rejects"))).toEqual([]);
});

it.each([
  [".", "it is not an ordinary file"],
  ["pets.csv/rejects.csv", "its directory is a file"],
  ["nowhere/rejects.csv", "it does not exist"],
  ["n".repeat(300), "its name is too long"],
  ["pets.csv", "it is the file that is imported"],
  ["hard.csv", "it is the file that is imported"],
  ["soft.csv", "it is the file that is imported"],
  ["pets.db", "it is a file of the database"],
])("the file is refused before the import when it is %s: %s", async (name, reason) => {
  const { pathOf, file, importIt, rejectTo } = folderWith(bad);
  linkSync(file, pathOf("hard.csv"));
  symlinkSync(file, pathOf("soft.csv"));
  await importIt();
  const error: unknown = expect.stringContaining(`: ${reason}`);
  expect(await rejectTo(pathOf(name), "--from-line", "2")).toEqual(refused(error));
  expect(readFileSync(file, "utf8")).toBe(bad);
});
