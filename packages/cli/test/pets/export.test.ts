import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, lstatSync, mkdirSync, promises } from "node:fs";
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync } from "node:fs";
import { copyFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseNewPet, petFilters } from "@petstore/core/internal";
import { encodePet } from "@petstore/http-adapter";
import { expect, it, vi } from "vitest";
import { unusualPets } from "../../../storage-contract/src/samples.js";
import { applyMocks, watchSyncs } from "../../../storage-sqlite/test/support/storage.js";
import { petstoreOn, refused, terminalTo, withDatabase, writableTo } from "../support/command.js";

const CATEGORIES = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"];
const STATUSES = ["available", "pending", "sold"];
const NAMES = ["", "Rex", 'a "b", c', "two\nlines", "two\r\nlines", " padded ", "🐈", "=1+1", "\r"];

/** A database with this many pets of all kinds, a file beside it, and a function that exports to a path. */
async function filled(count: number, name = "pets.ndjson") {
  const { database, run, read: runReading } = withDatabase();
  const lines = Array.from({ length: count }, (_, index) => {
    const pet = JSON.stringify(NAMES[index % NAMES.length]);
    const category = CATEGORIES[index % CATEGORIES.length] ?? "0";
    return `{"name":${pet},"categoryId":${category},"status":"${STATUSES[index % 3] ?? ""}"}\n`;
  });
  expect((await runReading(lines.join(""), "pets", "import", "-")).code).toBe(0);
  const file = join(dirname(database), name);
  const exportTo = (...args: readonly string[]) => run("pets", "export", ...args);
  const read = () => readFileSync(file, "utf8");
  /** The files in the folder that belong to no database. */
  const left = () => readdirSync(dirname(file)).filter((each) => !each.startsWith("pets.db"));
  return { database, file, exportTo, read, left };
}

it("names a database that is damaged, and not what it writes to", async () => {
  const { database, file, exportTo, left } = await filled(1_000);
  writeFileSync(database, readFileSync(database).fill(255, 16 * 4_096));
  const error = new RegExp(`^petstore: cannot read the database ${database}: .*SQLITE_CORRUPT`);
  for (const to of ["-", file]) {
    const exported = await exportTo(to);
    expect([exported.code, exported.error]).toEqual([1, expect.stringMatching(error)]);
  }
  expect(left()).toEqual([]);
});

it("writes a file, and an import its rejects, at most as open as what they come from", async () => {
  const { database, file, exportTo } = await filled(1);
  chmodSync(database, 0o600);
  const found: unknown[] = [];
  // A file system without links.
  vi.spyOn(promises, "link").mockRejectedValueOnce(new Error("EPERM"));
  await watchSyncs(() => found.push(existsSync(file)));
  const openTo = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect([(await exportTo(file)).code, openTo(file), found]).toEqual([0, "600", [false]]);
  const rejects = `${file}.rejects`;
  appendFileSync(file, "bad\n");
  chmodSync(file, 0o440);
  await withDatabase().run("pets", "import", file, "--rejects", rejects);
  expect([openTo(file), openTo(rejects)]).toEqual(["440", "640"]);
});

it.each(["ndjson", "csv"])("writes %s that imports to the same pets", async (format) => {
  const { file, exportTo } = await filled(1_234, `pets.${format}`);
  const handlers = () => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");
  const before = handlers();
  expect(await exportTo(file)).toEqual({ code: 0, out: "", error: "exported 1,234 pets" });
  const { database: copy, run } = withDatabase();
  const [out, error] = ["imported 1,234 pets", `petstore: new database ${copy}`];
  expect(await run("pets", "import", file)).toEqual({ code: 0, out, error });
  expect(handlers()).toBe(before);
  const all = (await exportTo("-")).out;
  expect((await run("pets", "export")).out).toBe(all);
  expect(all).toContain('"categoryId":-9223372036854775808');
});

it("keeps every value of every field, in either format", async () => {
  const pets = unusualPets.filter((pet) => parseNewPet(pet).isOk());
  const lines = pets.map((pet, index) => `${encodePet({ id: BigInt(index + 1), ...pet })}\n`);
  let [format, file] = ["ndjson", lines.join("")];
  for (const next of ["csv", "ndjson"]) {
    const { run, read } = withDatabase();
    expect((await read(file, "pets", "import", "-", "--format", format)).code).toBe(0);
    file = `${(await run("pets", "export", "--format", next)).out}\n`;
    format = next;
  }
  expect(file).toBe(lines.join(""));
});

it.each(petFilters)("writes only pets with the given %s", async (field) => {
  const { exportTo } = await filled(300);
  const all = (await exportTo("-")).out.split("\n");
  const valueOf = (line = "") => new RegExp(`"${field}":"?([^",}]+)`).exec(line)?.[1] ?? "";
  const option = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const value = valueOf(all[2]);
  const lines = (await exportTo("-", option, value)).out.split("\n");
  expect(lines).toEqual(all.filter((line) => valueOf(line) === value));
  expect(lines.length).toBeLessThan(all.length);
});

it("refuses a wrong status, and writes only the heading if there are no pets", async () => {
  const empty = await filled(0, "pets.CSV");
  expect((await empty.exportTo("-", "--status", "1.5")).code).toBe(1);
  expect(await empty.exportTo(empty.file)).toEqual({ code: 0, out: "", error: "exported 0 pets" });
  expect(empty.read()).toMatch(/^id,name,categoryId,status.*\n$/);
});

it("never overwrites the database that it reads, whatever its path, nor another, nor a directory, and creates none", async () => {
  const { database, file: link, exportTo, left } = await filled(3);
  const { database: other } = withDatabase();
  copyFileSync(database, other);
  symlinkSync(database, link);
  for (const path of [database, `${database}-wal`, `${database}-journal`, link, other, "."]) {
    const reason = { ".": "directory", [other]: "database" }[path] ?? "file of the database";
    const error = `petstore: cannot write ${path}: it is a ${reason}`;
    expect(await exportTo(path, "--overwrite")).toEqual(refused(error));
  }
  expect((await exportTo("-")).out.split("\n")).toHaveLength(3);
  expect(left()).toEqual([basename(link)]);
  const none = withDatabase();
  const exported = await none.run("pets", "export", `${none.database}.ndjson`);
  const error: unknown = expect.stringContaining("there is no database");
  expect([exported, readdirSync(dirname(none.database))]).toEqual([refused(error), []]);
});

it("overwrites a file, or the target of a link, only with --overwrite, and does not mix two exports", async () => {
  const { file, exportTo, read, left } = await filled(1_234);
  const link = join(dirname(file), "link.ndjson");
  writeFileSync(file, "mine");
  symlinkSync(file, link);
  const error = `petstore: ${file} already exists (--overwrite replaces it)`;
  expect([await exportTo(file), read()]).toEqual([refused(error), "mine"]);
  const both = await Promise.all([exportTo(link, "--overwrite"), exportTo(file, "--overwrite")]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(read().split("\n")).toHaveLength(1_235);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(left()).toEqual(["link.ndjson", "pets.ndjson"]);
});

it.skipIf(process.platform !== "linux")("lets an import read a pipe, and keeps it", async () => {
  const { file: pipe, exportTo } = await filled(3, "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  const importing = withDatabase().run("pets", "import", pipe);
  const exported = await exportTo(pipe, "--overwrite");
  expect(exported).toMatchObject({ code: 0, error: "exported 3 pets" });
  expect(await importing).toMatchObject({ code: 0, out: "imported 3 pets" });
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  const more = await filled(2_000);
  spawn("head", ["-c1", pipe]);
  const left = await more.exportTo(pipe);
  expect(left).toEqual(refused(`petstore: cannot write ${pipe}: the reader has closed the pipe`));
  writeFileSync(`${pipe}.mine`, "mine");
  const { open } = promises;
  for (const [reason, happen] of [
    ["it received a signal to stop", () => process.emit("SIGHUP", "SIGHUP")],
    ["a file has taken its place", () => renameSync(`${pipe}.mine`, pipe)],
  ] as const) {
    vi.spyOn(promises, "open").mockImplementationOnce((...args) => (happen(), open(...args)));
    applyMocks();
    expect(await exportTo(pipe)).toEqual(refused(`petstore: cannot write ${pipe}: ${reason}`));
  }
  expect(readFileSync(pipe, "utf8")).toBe("mine");
});

it.each([
  ["SIGHUP", "it received a signal to stop", []],
  ["a folder in its place", "it already exists", ["pets.ndjson"]],
  ["a file in its place", "it already exists", ["pets.ndjson"]],
] as const)("leaves no file when it is stopped by %s", async (what, reason, remaining) => {
  const { database, file, left } = await filled(250);
  const stderr = terminalTo((shown) => {
    if (what === "a folder in its place") mkdirSync(file, { recursive: true });
    else if (what === "a file in its place") writeFileSync(file, "mine");
    else if (shown.endsWith("K100 pets")) process.emit(what, what);
  });
  const exported = await petstoreOn({ stderr }, "pets", "export", file, "--database", database);
  expect(exported).toEqual(refused(`petstore: cannot write ${file}: ${reason}`));
  expect(left()).toEqual(remaining);
});

it("keeps only a few pages in memory while the reader of standard output is slow, and ends quietly when it has closed it", async () => {
  const { database } = await filled(2_000);
  let most = 0;
  const slow = writableTo((_, done) => {
    most = Math.max(most, slow.writableLength);
    setImmediate(done);
  });
  const args = ["pets", "export", "--database", database];
  const error = "exported 2,000 pets";
  expect(await petstoreOn({ stdout: slow }, ...args)).toEqual({ code: 0, out: "", error });
  expect(most).toBeLessThan(5 * 100 * 80);
  const problem = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const closed = writableTo((_, done) => void setImmediate(() => done(problem)));
  expect(await petstoreOn({ stdout: closed }, ...args)).toEqual({ code: 0, out: "", error: "" });
});

it("escapes control characters on a terminal, and nowhere else, and shows no progress beside its data", async () => {
  const { database, read } = withDatabase();
  const name = "a\u001b[2J\u009b\u202e\u{13430}é 👩‍🚀";
  await read(JSON.stringify({ name, categoryId: 1 }), "pets", "import", "-");
  const escaped = "a\\u001b[2J\\u009b\\u202e\\ud80d\\udc30é 👩‍🚀";
  for (const [format, isTTY, expected] of [
    ["csv", true, escaped],
    ["ndjson", true, escaped],
    ["csv", false, name],
    ["ndjson", false, JSON.stringify(name).slice(1, -1)],
  ] as const) {
    let shown = "";
    const stdout = terminalTo((text) => (shown += text), { isTTY });
    const on = { stdout, stderr: stdout };
    await petstoreOn(on, "pets", "export", "--format", format, "--database", database);
    expect(shown).toContain(expected);
    expect(shown).not.toContain("1 pet");
  }
  let progress = "";
  const stderr = terminalTo((text) => (progress += text));
  // A device, as a terminal is.
  const args = ["pets", "export", "/dev/null", "--database", database];
  expect([(await petstoreOn({ stderr }, ...args)).code, progress]).toEqual([0, ""]);
});
