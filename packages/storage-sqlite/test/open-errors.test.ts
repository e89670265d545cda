import fs from "node:fs";
import { resolve } from "node:path";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseOptions } from "../src/database/options.js";
import { applyMocks, openFiles, openStorage, rex, useFolder } from "./support/storage.js";

const folder = useFolder();
const opened: Database.Database[] = [];
afterEach(() => opened.splice(0).forEach((database) => database.close()));

function openDatabase(name: string, change = "", options?: Database.Options) {
  const filename = name.endsWith(".db") ? resolve(folder.path("."), name) : name;
  const database = new Database(filename, options).exec(change);
  opened.push(database);
  return database;
}

const codeOf = async (options: SqliteStorageOptions): Promise<string> =>
  (await openSqliteStorage({ timeoutSeconds: 0, ...options }))._unsafeUnwrapErr().code;

async function createFile(): Promise<string> {
  const filename = folder.path("sound.db");
  const storage = await openStorage({ filename });
  for (let count = 0; count < 5; count += 1)
    await storage.pets.create({ ...rex, name: "long ".repeat(2_000) });
  await storage.close();
  return filename;
}

const ofVersion = (version: string) =>
  openDatabase(":memory:").function("sqlite_version", () => version);

const withoutRoom = () =>
  openDatabase(":memory:").function("sqlite_version", () => {
    throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_SHMSIZE");
  });

function failPragma(): void {
  applyMocks();
  const error = new Database.SqliteError("no", "SQLITE_IOERR");
  vi.spyOn(Database.prototype, "pragma").mockThrowOnce(error);
}

const SMALL = "pragma max_page_count = 3";
const LATER = "insert into petstore_migrations values (1000, 'later', 1)";
const LOSE_COLUMN = "alter table api_keys drop column label";
const MIGRATIONS =
  "create table petstore_migrations (number integer primary key, name text, breaking integer) strict";

describe("opening a database fails with", () => {
  it.each<[code: string, what: string, options: () => SqliteStorageOptions]>([
    ["cannot_open", "a missing folder", () => ({ filename: folder.path("none/pets.db") })],
    ["cannot_open", "a path that is a folder", () => ({ filename: folder.path(".") })],
    ["cannot_open", "a named pipe", () => ({ filename: folder.pipe("pipe.db") })],
    ["cannot_open", "a pipe as a log", () => ({ filename: folder.pipe("p.db-wal").slice(0, -4) })],
    ["cannot_open", "one as an index", () => ({ filename: folder.pipe("p.db-shm").slice(0, -4) })],
    ["cannot_open", "as a journal", () => ({ filename: folder.pipe("p.db-journal").slice(0, -8) })],
    ["cannot_open", "a closed database", () => ({ database: new Database(":memory:").close() })],
    ["busy", "a host's transaction", () => ({ database: openDatabase(":memory:", "begin") })],
    ["disk_full", "tables that do not fit", () => ({ database: openDatabase("small.db", SMALL) })],
    ["disk_full", "an index that does not fit", () => ({ database: withoutRoom() })],
    // Without a name, it has no write-ahead log.
    ["not_durable", "a temporary database", () => ({ database: openDatabase("") })],
    ["sqlite_too_old", "SQLite 3.51.2", () => ({ database: ofVersion("3.51.2") })],
    ["sqlite_too_old", "SQLite 3.9.9", () => ({ database: ofVersion("3.9.9") })],
    ["sqlite_too_old", "SQLite 2.99.99", () => ({ database: ofVersion("2.99.99") })],
  ])("%s for %s", async (code, _, options) => {
    expect(await codeOf(options())).toBe(code);
    expect(opened.some(({ inTransaction }) => inTransaction)).toBe(code === "busy");
    const tables = opened.map((database) => database.prepare("select * from sqlite_schema").all());
    expect(tables.flat()).toEqual([]);
  });

  it.each<[code: string, what: string, change: (file: string) => unknown]>([
    ["not_a_database", "a text", (file) => fs.writeFileSync(file, "Buy dog food.\n".repeat(500))],
    ["not_a_database", "other header", (file) => fs.writeFileSync(file, "garbage", { flag: "r+" })],
    ["cannot_open", "a text as its log", (file) => fs.writeFileSync(`${file}-wal`, "Buy food.")],
    ["cannot_open", "a text as a journal", (file) => fs.writeFileSync(`${file}-journal`, "Buy.")],
    ["cannot_open", "a text as an index", (file) => fs.writeFileSync(`${file}-shm`, "Buy food.")],
    ["damaged", "lost end", (file) => fs.truncateSync(file, 2 * 4_096)],
    ["failed", "a disk that fails", failPragma],
    ["busy", "locked by another connection", (file) => openDatabase(file, "begin immediate")],
    ["schema_too_new", "tables of a later version", (file) => openDatabase(file, LATER)],
    ["schema_conflict", "lost table", (file) => openDatabase(file, "drop table api_key_usage")],
    ["schema_conflict", "lost column", (file) => openDatabase(file, LOSE_COLUMN)],
  ])("%s for a file, which is unchanged and closed: %s", async (code, _, change) => {
    const filename = await createFile();
    change(filename);
    const files = [filename, `${filename}-wal`, `${filename}-journal`].filter(fs.existsSync);
    const before = files.map((file) => fs.readFileSync(file));
    // Nor the file of /proc that tells the locks; other tests of this process may have some.
    const open = () => [...openFiles(filename), ...openFiles("/fdinfo/")].length;
    const openBefore = open();
    const listeners = process.listeners("exit");
    expect(await codeOf({ filename, timeoutSeconds: 0.01 })).toBe(code);
    expect(process.listeners("exit")).toEqual(listeners);
    expect(files.map((file) => fs.readFileSync(file))).toEqual(before);
    opened.splice(0).forEach((database) => database.close());
    expect(open()).toBeLessThanOrEqual(openBefore);
  });

  it("read_only for a read-only database, not_durable for a host's that will not sync the disk at every commit", async () => {
    const readonly = openDatabase(await createFile(), "", { readonly: true });
    expect(await codeOf({ database: readonly })).toBe("read_only");
    const database = openDatabase("host.db", "pragma synchronous = NORMAL");
    const pragma = database.pragma.bind(database);
    database.pragma = (source, options) =>
      source === "main.synchronous = FULL" ? undefined : pragma(source, options);
    expect(await codeOf({ database })).toBe("not_durable");
  });

  it.each([
    ["schema_conflict", "create table api_keys (mine text)"],
    ["schema_conflict", "create table petstore_migrations (mine text)"],
    ["schema_too_new", `${MIGRATIONS}; ${LATER}`],
  ])("%s for tables of others, and changes nothing", async (code, tables) => {
    const filename = folder.path("foreign.db");
    const database = openDatabase(filename, tables);
    const before = fs.readFileSync(filename);
    expect([await codeOf({ filename }), await codeOf({ database })]).toEqual([code, code]);
    expect(database.pragma("journal_mode", { simple: true })).toBe("delete");
    expect(database.inTransaction).toBe(false);
    database.close();
    expect(fs.readFileSync(filename).equals(before)).toBe(true);
  });
});

it("a log of zeros, as a crash may leave it, is not read to its end", async () => {
  const filename = await createFile();
  fs.writeFileSync(`${filename}-wal`, Buffer.alloc(1_000_000));
  const reads = vi.spyOn(fs, "readSync");
  applyMocks();
  await openStorage({ filename });
  expect(reads.mock.calls.length).toBeLessThan(100);
});

it.each(["3.51.3", "3.51.10", "3.53.0", "4.0.0"])("SQLite %s is new enough", async (version) => {
  await openStorage({ database: ofVersion(version) });
});

describe("opening a database throws a TypeError that names the wrong option", () => {
  const filename = ":memory:";
  it.each<[unknown, string]>([
    [undefined, "options"],
    [["pets.db"], "options"],
    [{ filename: undefined, database: undefined }, "filename"],
    [{ filename: "  " }, "filename"],
    [{ filename: "pets\0.db" }, "filename"],
    [{ database: {} }, "database"],
    [{ filename, database: new Database(filename) }, "database"],
    [{ filename, readOnly: true }, "readOnly"],
    [{ filename, readOnly: 1 }, "readOnly"],
    [{ database: new Database(filename), readOnly: true }, "readOnly"],
    [{ filename, timeoutSeconds: -1 }, "timeoutSeconds"],
    [{ filename, timeoutSeconds: 3_601 }, "timeoutSeconds"],
    [{ filename, timeoutSeconds: "5" }, "timeoutSeconds"],
    [{ filename, lockTimeoutSeconds: 5 }, "lockTimeoutSeconds "],
  ])("%o", (options, name) => {
    const open = () => openSqliteStorage(options as SqliteStorageOptions);
    expect(open).toThrow(TypeError);
    expect(open).toThrow(name);
  });

  it("but not for options that are undefined, and waits 5 seconds for a lock by default", async () => {
    expect(parseOptions({ filename }).timeout).toBe(5_000);
    await openStorage({ filename, database: undefined, timeoutSeconds: undefined });
    await openStorage({ filename: undefined, database: openDatabase(filename) });
  });
});
