import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import {
  newDatabase,
  petstore,
  petstoreOn,
  petstoreReading,
  writableTo,
} from "../support/command.js";

const CATEGORIES = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"];
const STATUSES = ["available", "pending", "sold"];
const NAMES = ["", "Rex", 'a "b", c', "two\nlines", "two\r\nlines", " padded ", "🐈", "=1+1", "\r"];

/** A database with this many pets of all kinds, a file beside it, and a function that exports to a path. */
async function filled(count: number, name = "pets.ndjson") {
  const database = newDatabase();
  const lines = Array.from({ length: count }, (_, index) => {
    const pet = JSON.stringify(NAMES[index % NAMES.length]);
    const category = CATEGORIES[index % CATEGORIES.length] ?? "0";
    return `{"name":${pet},"categoryId":${category},"status":"${STATUSES[index % 3] ?? ""}"}\n`;
  });
  const args = ["pets", "import", "-", "--database", database];
  expect((await petstoreReading(lines.join(""), ...args)).code).toBe(0);
  const file = join(dirname(database), name);
  const exportTo = (path: string, ...options: readonly string[]) =>
    petstore("pets", "export", path, ...options, "--database", database);
  const read = () => readFileSync(file, "utf8");
  /** The files in the folder that belong to no database. */
  const left = () => readdirSync(dirname(file)).filter((each) => !each.startsWith("pets.db"));
  return { database, file, exportTo, read, left };
}

describe("pets export", () => {
  it("names a database that is damaged, and not what it writes to", async () => {
    const { database, file, exportTo, left } = await filled(1_000);
    const damaged = readFileSync(database).fill(255, 16 * 4_096);
    writeFileSync(database, damaged);
    const reason = `the file is damaged \\(SQLITE_CORRUPT\\w*\\)`;
    const error = new RegExp(`^petstore: cannot read the database ${database}: [^:]+: ${reason}`);
    for (const to of ["-", file]) {
      const exported = await exportTo(to);
      expect([exported.code, exported.error]).toEqual([1, expect.stringMatching(error)]);
    }
    expect(left()).toEqual([]);
  });

  it("writes a file, and an import its rejects, at most as open as what they come from", async () => {
    const { database, file, exportTo } = await filled(1);
    chmodSync(database, 0o600);
    expect((await exportTo(file)).code).toBe(0);
    const rejects = `${file}.rejects`;
    appendFileSync(file, "bad\n");
    await petstore("pets", "import", file, "--rejects", rejects, "--database", newDatabase());
    expect([file, rejects].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it.each(["ndjson", "csv"])("writes %s that imports to the same pets", async (format) => {
    const { file, exportTo } = await filled(1_234, `pets.${format}`);
    const handlers = () => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");
    const before = handlers();
    expect(await exportTo(file)).toEqual({ code: 0, out: "", error: "exported 1,234 pets" });
    const copy = newDatabase();
    expect(await petstore("pets", "import", file, "--database", copy)).toEqual({
      code: 0,
      out: "imported 1,234 pets",
      error: `petstore: new database ${copy}`,
    });
    // No handler of a signal is left.
    expect(handlers()).toBe(before);
    const { out } = await exportTo("-");
    expect((await petstore("pets", "export", "--database", copy)).out).toBe(out);
    expect(out.split("\n")).toHaveLength(1_234);
    expect(out).toContain('"categoryId":-9223372036854775808');
  });

  it("writes only pets with the given status, and only the heading if there are none", async () => {
    const { exportTo } = await filled(300);
    const lines = (await exportTo("-", "--status", "sold")).out.split("\n");
    expect(lines).toHaveLength(100);
    expect(lines.filter((line) => !line.endsWith('"sold"}'))).toEqual([]);
    const empty = await filled(0, "pets.csv");
    const exported = { code: 0, out: "", error: "exported 0 pets" };
    expect(await empty.exportTo(empty.file)).toEqual(exported);
    expect(empty.read()).toBe("id,name,categoryId,status\n");
  });

  it("never overwrites the database that it reads, whatever its path, nor a directory, and creates no database", async () => {
    const { database, file: link, exportTo, left } = await filled(3);
    symlinkSync(database, link);
    for (const path of [database, `${database}-wal`, `${database}-journal`, link, "."]) {
      const reason = path === "." ? "it is a directory" : "it is a file of the database";
      const error = `petstore: cannot write ${path}: ${reason}`;
      expect(await exportTo(path, "--overwrite")).toEqual({ code: 1, out: "", error });
    }
    expect((await exportTo("-")).out.split("\n")).toHaveLength(3);
    expect(left()).toEqual([basename(link)]);
    const none = newDatabase();
    const file = join(dirname(none), "pets.ndjson");
    const { code, error } = await petstore("pets", "export", file, "--database", none);
    expect(code).toBe(1);
    expect(error).toContain("there is no database");
    expect(readdirSync(dirname(none))).toEqual([]);
  });

  it("overwrites a file, or the target of a link, only with --overwrite, and does not mix two exports", async () => {
    const { file, exportTo, read, left } = await filled(1_234);
    const link = join(dirname(file), "link.ndjson");
    writeFileSync(file, "mine");
    symlinkSync(file, link);
    const error = `petstore: ${file} already exists (--overwrite replaces it)`;
    expect([await exportTo(file), read()]).toEqual([{ code: 1, out: "", error }, "mine"]);
    const both = await Promise.all([exportTo(link, "--overwrite"), exportTo(file, "--overwrite")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(read().split("\n")).toHaveLength(1_235);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(left()).toEqual(["link.ndjson", "pets.ndjson"]);
  });

  it.skipIf(process.platform !== "linux")("writes to a pipe, and does not remove it", async () => {
    const { file: pipe, exportTo } = await filled(3, "pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "ignore"] });
    const [exported, read] = await Promise.all([
      exportTo(pipe, "--overwrite"),
      text(reader.stdout),
    ]);
    expect(exported).toMatchObject({ code: 0, error: "exported 3 pets" });
    expect(read.split("\n")).toHaveLength(4);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  it.each([
    ["SIGHUP", "it received a signal to stop", []],
    ["a folder in its place", "it already exists", ["pets.ndjson"]],
    ["a file in its place", "it already exists", ["pets.ndjson"]],
  ] as const)("leaves no file when it is stopped by %s", async (what, reason, remaining) => {
    const { database, file, left } = await filled(250);
    const stderr = writableTo((part, done) => {
      if (what === "a folder in its place") mkdirSync(file, { recursive: true });
      else if (what === "a file in its place") writeFileSync(file, "mine");
      else if (part.toString("utf8").endsWith("K100 pets")) process.emit(what, what);
      done();
    });
    const terminal = Object.assign(stderr, { isTTY: true });
    const args = ["pets", "export", file, "--database", database];
    const error = `petstore: cannot write ${file}: ${reason}`;
    expect(await petstoreOn({ stderr: terminal }, ...args)).toEqual({ code: 1, out: "", error });
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

  it("escapes control characters on a terminal, and nowhere else", async () => {
    const database = newDatabase();
    const name = "a\u001b[2J\u009b\u202e\u{13430}é 👩‍🚀";
    const pet = JSON.stringify({ name, categoryId: 1 });
    await petstoreReading(pet, "pets", "import", "-", "--database", database);
    for (const isTTY of [true, false]) {
      for (const format of ["csv", "ndjson"]) {
        let shown = "";
        const screen = writableTo((part, done) => done(void (shown += part.toString())));
        const stdout = Object.assign(screen, { isTTY });
        await petstoreOn({ stdout }, "pets", "export", "--format", format, "--database", database);
        const escaped = "a\\u001b[2J\\u009b\\u202e\\ud80d\\udc30é 👩‍🚀";
        const inFile = format === "csv" ? name : JSON.stringify(name).slice(1, -1);
        expect(shown).toContain(isTTY ? escaped : inFile);
      }
    }
  });
});
