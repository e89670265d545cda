import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";
import { describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();

async function codeOf(options: SqliteStorageOptions): Promise<string> {
  const opened = await openSqliteStorage({ lockTimeoutSeconds: 0, ...options });
  return opened._unsafeUnwrapErr().code;
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

/** A schema that this version does not know. */
const NEWER = 1_000;
const migrationsTable =
  "create table petstore_migrations (number integer primary key, name text not null) strict;";
/** Databases that are refused for their tables. */
const foreign = [
  ["schema_conflict", "create table api_keys (mine text)"],
  ["schema_conflict", "create table petstore_migrations (mine text)"],
  [
    "schema_too_new",
    `${migrationsTable} insert into petstore_migrations values (${NEWER}, 'later')`,
  ],
] as const;

describe("opening a database fails with", () => {
  it("cannot_open for a folder that does not exist", async () => {
    expect(await codeOf({ filename: folder.path("missing/pets.db") })).toBe("cannot_open");
  });

  it("cannot_open for a path that is a folder", async () => {
    mkdirSync(folder.path("pets.db"));
    expect(await codeOf({ filename: folder.path("pets.db") })).toBe("cannot_open");
  });

  it("cannot_open for a host's database that is closed", async () => {
    const database = new Database(":memory:");
    database.close();
    expect(await codeOf({ database })).toBe("cannot_open");
  });

  it("not_a_database for a text file, which is unchanged", async () => {
    const filename = folder.path("notes.txt");
    writeFileSync(filename, "Buy dog food.\n".repeat(500));
    expect(await codeOf({ filename })).toBe("not_a_database");
    expect(readFileSync(filename, "utf8")).toBe("Buy dog food.\n".repeat(500));
  });

  it("not_a_database for a file whose header is overwritten", async () => {
    const filename = await createFile();
    writeFileSync(filename, "garbage", { flag: "r+" });
    expect(await codeOf({ filename })).toBe("not_a_database");
  });

  it("damaged for a file that was cut short", async () => {
    const filename = await createFile();
    truncateSync(filename, 2 * 4_096);
    expect(await codeOf({ filename })).toBe("damaged");
  });

  it("read_only for a read-only database", async () => {
    const database = new Database(await createFile(), { readonly: true });
    expect(await codeOf({ database })).toBe("read_only");
    database.close();
  });

  it("disk_full when the tables do not fit", async () => {
    const database = new Database(folder.path("small.db"));
    database.pragma("max_page_count = 3");
    expect(await codeOf({ database })).toBe("disk_full");
    expect(database.inTransaction).toBe(false);
    database.close();
  });

  it("busy when another connection keeps its lock", async () => {
    const filename = await createFile();
    const other = new Database(filename);
    other.exec("begin immediate");
    expect(await codeOf({ filename, lockTimeoutSeconds: 0.01 })).toBe("busy");
    other.exec("rollback");
    other.close();
  });

  it("busy when the host does not end its own transaction", async () => {
    const database = new Database(":memory:");
    database.exec("begin");
    expect(await codeOf({ database })).toBe("busy");
    database.close();
  });

  it("schema_too_new for tables of a later version", async () => {
    const filename = await createFile();
    const later = new Database(filename);
    later.exec(`insert into petstore_migrations (number, name) values (${NEWER}, 'the future')`);
    later.close();
    expect(await codeOf({ filename })).toBe("schema_too_new");
  });

  it("schema_conflict for a host's own table of the same name, and adds no table", async () => {
    const database = new Database(folder.path("host.db"));
    database.exec("create table api_keys (mine text)");
    expect(await codeOf({ database })).toBe("schema_conflict");
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    expect(tables).toEqual([{ name: "api_keys" }]);
    database.close();
  });

  it("any code without changing the journal mode of the file", async () => {
    for (const [index, [code, tables]] of foreign.entries()) {
      const filename = folder.path(`foreign-${index}.db`);
      const database = new Database(filename);
      database.exec(tables);
      const before = readFileSync(filename);
      expect(await codeOf({ filename })).toBe(code);
      expect(await codeOf({ database })).toBe(code);
      expect(database.pragma("journal_mode", { simple: true })).toBe("delete");
      expect(database.inTransaction).toBe(false);
      database.close();
      expect(readFileSync(filename)).toEqual(before);
    }
  });

  it("schema_conflict when a table was dropped", async () => {
    const filename = await createFile();
    const other = new Database(filename);
    other.exec("drop table api_key_usage");
    other.close();
    expect(await codeOf({ filename })).toBe("schema_conflict");
  });

  it.each(["3.51.2", "3.9.9", "2.99.99"])("sqlite_too_old for SQLite %s", async (version) => {
    const database = new Database(":memory:");
    database.function("sqlite_version", () => version);
    expect(await codeOf({ database })).toBe("sqlite_too_old");
    database.close();
  });

  it.each(["3.51.3", "3.51.10", "3.53.0", "4.0.0"])("not for SQLite %s", async (version) => {
    const database = new Database(":memory:");
    database.function("sqlite_version", () => version);
    expect((await openSqliteStorage({ database })).isOk()).toBe(true);
    database.close();
  });

  it("not_durable where SQLite keeps no write-ahead log, and adds no table", async () => {
    const temporary = new Database("");
    expect(await codeOf({ database: temporary })).toBe("not_durable");
    expect(temporary.prepare("select name from sqlite_schema").all()).toEqual([]);
    temporary.close();
  });

  it("not_durable for a host's database that will not sync the disk at every commit", async () => {
    const database = new Database(folder.path("host.db"));
    database.pragma("synchronous = NORMAL");
    const pragma = database.pragma.bind(database);
    database.pragma = (source, options) =>
      source === "synchronous = FULL" ? undefined : pragma(source, options);
    expect(await codeOf({ database })).toBe("not_durable");
    database.close();
  });
});

describe("opening a database throws a TypeError that names the wrong option", () => {
  const filename = ":memory:";
  it.each<[unknown, string]>([
    [undefined, "options"],
    [null, "options"],
    [["pets.db"], "options"],
    [{}, "filename"],
    [{ filename: undefined, database: undefined }, "filename"],
    [{ filename: "" }, "filename"],
    [{ filename: "  " }, "filename"],
    [{ filename: "pets\0.db" }, "filename"],
    [{ filename: 5 }, "filename"],
    [{ filename: null }, "filename"],
    [{ database: {} }, "database"],
    [{ database: null }, "database"],
    [{ database: Database }, "database"],
    [{ filename, database: new Database(filename) }, "database"],
    [{ filename, readOnly: true }, "readOnly"],
    [{ filename, readOnly: 1 }, "readOnly"],
    [{ database: new Database(filename), readOnly: true }, "readOnly"],
    [{ filename, lockTimeoutSeconds: -1 }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: 3_601 }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: NaN }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: "5" }, "lockTimeoutSeconds"],
    [{ filename, lockTimeoutSeconds: null }, "lockTimeoutSeconds"],
    [{ filename, lockTimeout: 5 }, "lockTimeout "],
  ])("%o", (options, name) => {
    const open = () => openSqliteStorage(options as SqliteStorageOptions);
    expect(open).toThrow(TypeError);
    expect(open).toThrow(name);
  });

  it("but not for options that are undefined", async () => {
    await (await openStorage({ filename, database: undefined })).close();
    await (await openStorage({ filename, lockTimeoutSeconds: undefined })).close();
    const database = new Database(filename);
    await (await openStorage({ filename: undefined, database })).close();
    database.close();
  });
});
