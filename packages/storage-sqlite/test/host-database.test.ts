import type { Storage } from "@petstore/core/storage";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { beforeEach, expect, it } from "vitest";
import { observe } from "./support/observe.js";
import { aKey, firstPage, openStorage, rex, turns } from "./support/storage.js";

let database: Database.Database;
let storage: Storage;
beforeEach(async () => {
  database = new Database(":memory:");
  storage = await openStorage({ database, timeoutSeconds: 60 });
});

const names = async (): Promise<readonly string[]> =>
  (await storage.pets.list(firstPage))._unsafeUnwrap().pets.map(({ name }) => name);

it("the storage closes, and the database stays open", async () => {
  await storage.close();
  expect(database.open).toBe(true);
  expect(database.prepare("select count(*) from pets").pluck().get()).toBe(0);
});

it.each([0, 60_000])("writes wait for a host's transaction: busy_timeout %i", async (timeout) => {
  database.pragma(`busy_timeout = ${timeout}`);
  const other = await openStorage({ database, timeoutSeconds: 60 });
  database.exec("begin");
  const created = other.pets.create(rex);
  await turns(10);
  expect(database.inTransaction).toBe(true);
  database.exec("rollback");
  expect([(await created).isOk(), await names()]).toEqual([true, ["Rex"]]);
});

it("a write waits while the host iterates over rows, and reads do not", async () => {
  const rows = database.prepare("select 1 union select 2").iterate();
  rows.next();
  const created = storage.pets.create(rex);
  expect(await Promise.all([names(), names()])).toEqual([[], []]);
  rows.return?.();
  expect((await created).isOk()).toBe(true);
});

it("a removed key leaves no row, even if the host has switched foreign keys off", async () => {
  database.pragma("foreign_keys = off");
  await storage.keys.insert(aKey("a"));
  await storage.usage.update("a", (usage) => ({ next: usage && { ...usage }, result: 0 }));
  expect((await storage.keys.remove(["a"]))._unsafeUnwrap()).toBe(1);
  for (const table of ["api_keys", "api_key_secrets", "api_key_usage"])
    expect(database.prepare(`select * from ${table}`).all()).toEqual([]);
});

it("the host's transaction can be read, and a page of it is not cached after its rollback", async () => {
  await storage.pets.create(rex);
  database.exec("begin; update pets set name = 'Never'");
  expect([await names(), (await storage.keys.find("a")).isOk()]).toEqual([["Never"], true]);
  database.exec("rollback");
  expect(await names()).toEqual(["Rex"]);
});

it("a temporary table of the host's takes no pet, no key and no id of the store's", async () => {
  const first = (await storage.pets.create(rex))._unsafeUnwrap();
  database.exec(`create temp table counted (id integer primary key autoincrement);
      insert into counted (id) values (500);
      create temp table pets as select * from main.pets;
      create temp table api_keys as select * from main.api_keys`);
  expect((await storage.pets.create(rex))._unsafeUnwrap().id).toBe(first.id + 1n);
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  expect(await names()).toEqual(["Rex", "Rex"]);
  database.exec("drop table temp.pets; drop table temp.api_keys");
  expect(await names()).toEqual(["Rex", "Rex"]);
  expect((await storage.keys.find("a"))._unsafeUnwrap()).toBeDefined();
});

it("lists stay fresh while and after another program rebuilds the table, as SQLite advises", async () => {
  await storage.pets.create(rex);
  expect(await names()).toEqual(["Rex"]);
  const sql = database.prepare("select sql from sqlite_schema where name = 'pets'").pluck().get();
  const indexes = database.pragma("index_list(pets)");
  database.exec(`begin; create table copy as select * from pets; drop table pets; ${String(sql)};
      insert into pets select * from copy; drop table copy; commit`);
  expect(await names()).toEqual(["Rex"]);
  for (const name of ["Max", "Bo"]) {
    database.exec(`update pets set name = '${name}'`);
    expect(await names()).toEqual([name]);
  }
  const again = await openStorage({ database });
  expect(database.pragma("index_list(pets)")).toEqual(indexes);
  const pages = async () => (await again.pets.list(firstPage))._unsafeUnwrap();
  expect(await pages()).toBe(await pages());
  database.exec("update pets set name = 'Ida'");
  expect((await pages()).pets).toMatchObject([{ name: "Ida" }]);
});

it.each([
  ["pets", "AUTOINCREMENT", "id integer primary key"],
  ["Pets", "AUTOINCREMENT", "id integer primary key autoincrement"],
  ["pet_creations", "PRIMARY KEY", "token"],
])("a table that was rebuilt as %s without its %s is refused", async (name, key, first) => {
  await storage.pets.create(rex);
  const found = database.prepare("select name from pragma_table_info(?)").pluck().all(name);
  const columns = [first, ...found.slice(1)].join();
  database.exec(`begin; create table copy (${columns}); insert into copy select * from ${name};
      drop table ${name}; alter table copy rename to ${name}; commit`);
  const reason = new RegExp(`rebuilt the table ${name}, which must .* have ${key}`);
  const { code, message } = (await openSqliteStorage({ database }))._unsafeUnwrapErr();
  expect([code, reason.test(message)]).toEqual(["schema_conflict", true]);
  database.exec("delete from petstore_migrations");
  expect((await storage.pets.create(rex))._unsafeUnwrapErr().message).toMatch(reason);
});

it.each([
  ["begin immediate", "SQLITE_FULL", true],
  ["user_version", "SQLITE_FULL", true],
  ["user_version", "SQLITE_IOERR_SHMSIZE", true],
  ["commit", "SQLITE_FULL", true],
  ["commit", "SQLITE_IOERR_SHMLOCK", true],
  ["commit", "SQLITE_IOERR_SHMOPEN", true],
  // SQLite has written and synced the log before.
  ["commit", "SQLITE_IOERR_SHMSIZE", undefined],
  ["commit", "SQLITE_IOERR_SHMMAP", undefined],
])("a commit whose undoing fails at %s (%s) is stored: %s", async (at, code, mayBeStored) => {
  let isFailing = false;
  const hosts = new Database(":memory:");
  const fail = (why: string) => {
    if (isFailing) throw new Database.SqliteError("it failed", why);
  };
  observe(hosts, (source) => source === "commit" && fail("SQLITE_FULL"));
  const exec = hosts.exec.bind(hosts);
  hosts.exec = (source) => {
    if (source.includes(at)) fail(code);
    return exec(source);
  };
  const store = await openStorage({ database: hosts });
  await store.pets.create(rex);
  isFailing = true;
  const failure = (await store.pets.create(rex))._unsafeUnwrapErr();
  expect(failure.mayBeStored).toBe(mayBeStored);
  expect(failure.message).toContain("the disk is full");
  expect((await openSqliteStorage({ database: hosts }))._unsafeUnwrapErr().code).toBe("disk_full");
});

it("every call fails, as a value, when the host closes it", async () => {
  database.close();
  const { pets, keys } = storage;
  for (const call of [pets.create(rex), pets.list(firstPage), keys.find("a")])
    expect((await call).isErr()).toBe(true);
  expect((await storage.close()).isOk()).toBe(true);
});
