import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
const opened: Database.Database[] = [];
afterEach(() => opened.splice(0).forEach((database) => database.close()));

/** Opens a database, changes it, and closes it after the test. */
function openDatabase(filename: string, change = "", options?: Database.Options) {
  const database = new Database(filename, options).exec(change);
  opened.push(database);
  return database;
}

async function codeOf(options: SqliteStorageOptions): Promise<string> {
  const result = await openSqliteStorage({ lockTimeoutSeconds: 0, ...options });
  return result._unsafeUnwrapErr().code;
}

/** A sound database file that holds some pets. */
async function createFile(): Promise<string> {
  const filename = folder.path("sound.db");
  const storage = await openStorage({ filename });
  for (let count = 0; count < 5; count += 1) {
    await storage.pets.create({ ...rex, name: "long ".repeat(2_000) });
  }
  await storage.close();
  return filename;
}

function ofVersion(version: string): Database.Database {
  return openDatabase(":memory:").function("sqlite_version", () => version);
}

/** A schema that this version does not know. */
const LATER = "insert into petstore_migrations values (1000, 'later')";
const MIGRATIONS =
  "create table petstore_migrations (number integer primary key, name text) strict";

describe("opening a database fails with", () => {
  it.each<[code: string, what: string, SqliteStorageOptions | (() => SqliteStorageOptions)]>([
    [
      "cannot_open",
      "a folder that does not exist",
      () => ({ filename: folder.path("none/pets.db") }),
    ],
    ["cannot_open", "a path that is a folder", () => ({ filename: folder.path(".") })],
    ["cannot_open", "a database that is closed", { database: new Database(":memory:").close() }],
    ["busy", "a host's transaction", () => ({ database: openDatabase(":memory:", "begin") })],
    [
      "disk_full",
      "tables that do not fit",
      () => ({ database: openDatabase(folder.path("small.db"), "pragma max_page_count = 3") }),
    ],
    // Without a name, it has no write-ahead log.
    ["not_durable", "a temporary database", () => ({ database: openDatabase("") })],
    ["sqlite_too_old", "SQLite 3.51.2", () => ({ database: ofVersion("3.51.2") })],
    ["sqlite_too_old", "SQLite 3.9.9", () => ({ database: ofVersion("3.9.9") })],
    ["sqlite_too_old", "SQLite 2.99.99", () => ({ database: ofVersion("2.99.99") })],
  ])("%s for %s", async (code, _, options) => {
    expect(await codeOf(typeof options === "function" ? options() : options)).toBe(code);
    expect(opened.some(({ inTransaction }) => inTransaction)).toBe(code === "busy");
    const tables = opened.map((database) => database.prepare("select * from sqlite_schema").all());
    expect(tables.flat()).toEqual([]);
  });

  it.each<[code: string, what: string, change: (filename: string) => unknown]>([
    [
      "not_a_database",
      "has another header",
      (file) => writeFileSync(file, "garbage", { flag: "r+" }),
    ],
    ["damaged", "was cut short", (file) => truncateSync(file, 2 * 4_096)],
    ["busy", "another connection has locked", (file) => openDatabase(file, "begin immediate")],
    ["schema_too_new", "has tables of a later version", (file) => openDatabase(file, LATER)],
    [
      "schema_conflict",
      "has lost a table",
      (file) => openDatabase(file, "drop table api_key_usage"),
    ],
  ])("%s for a file that %s", async (code, _, change) => {
    const filename = await createFile();
    change(filename);
    expect(await codeOf({ filename, lockTimeoutSeconds: 0.01 })).toBe(code);
  });

  it("read_only for a read-only database", async () => {
    const database = openDatabase(await createFile(), "", { readonly: true });
    expect(await codeOf({ database })).toBe("read_only");
  });

  it("not_durable for a host's database that will not sync the disk at every commit", async () => {
    const database = openDatabase(folder.path("host.db"), "pragma synchronous = NORMAL");
    const pragma = database.pragma.bind(database);
    database.pragma = (source, options) =>
      source === "synchronous = FULL" ? undefined : pragma(source, options);
    expect(await codeOf({ database })).toBe("not_durable");
  });

  it("not_a_database for a text file, which is unchanged", async () => {
    const [filename, text] = [folder.path("notes.txt"), "Buy dog food.\n".repeat(500)];
    writeFileSync(filename, text);
    expect(await codeOf({ filename })).toBe("not_a_database");
    expect(readFileSync(filename, "utf8")).toBe(text);
  });

  it.each([
    ["schema_conflict", "create table api_keys (mine text)"],
    ["schema_conflict", "create table petstore_migrations (mine text)"],
    ["schema_too_new", `${MIGRATIONS}; ${LATER}`],
  ])(
    "%s for tables of others, and changes neither them nor the journal mode",
    async (code, tables) => {
      const filename = folder.path("foreign.db");
      const database = openDatabase(filename, tables);
      const before = readFileSync(filename);
      expect(await codeOf({ filename })).toBe(code);
      expect(await codeOf({ database })).toBe(code);
      expect(database.pragma("journal_mode", { simple: true })).toBe("delete");
      expect(database.inTransaction).toBe(false);
      database.close();
      expect(readFileSync(filename)).toEqual(before);
    },
  );
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
    [{ filename: 5 }, "filename"],
    [{ database: {} }, "database"],
    [{ filename, database: new Database(filename) }, "database"],
    [{ filename, readOnly: true }, "readOnly"],
    [{ filename, readOnly: 1 }, "readOnly"],
    [{ database: new Database(filename), readOnly: true }, "readOnly"],
    [{ filename, lockTimeoutSeconds: -1 }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: 3_601 }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: NaN }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: "5" }, "lockTimeoutSeconds"],
    [{ filename, lockTimeout: 5 }, "lockTimeout "],
  ])("%o", (options, name) => {
    const open = () => openSqliteStorage(options as SqliteStorageOptions);
    expect(open).toThrow(TypeError);
    expect(open).toThrow(name);
  });

  it("but not for options that are undefined", async () => {
    await openStorage({ filename, database: undefined, lockTimeoutSeconds: undefined });
    await openStorage({ filename: undefined, database: openDatabase(filename) });
  });
});
