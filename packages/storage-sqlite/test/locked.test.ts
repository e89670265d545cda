import { NO_USAGE, type Storage, type StorageError } from "@petstore/core/storage";
import Database from "better-sqlite3";
import type { Result } from "neverthrow";
import { beforeEach, expect, it, vi } from "vitest";
import { aKey, firstPage, openStorage, rex, turns, usedBy, useFolder } from "./support/storage.js";
import { observe } from "./support/observe.js";

const folder = useFolder();
let filename: string;
let other: Database.Database;
beforeEach(() => {
  filename = folder.path("pets.db");
  other = new Database(filename);
});

async function openWith(timeoutSeconds: number): Promise<Storage> {
  const storage = await openStorage({ filename, timeoutSeconds });
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  return storage;
}

const writes = ({ pets, keys, usage }: Storage): Promise<Result<unknown, StorageError>>[] => [
  pets.create(rex),
  keys.insert(aKey("b")),
  usage.charge("digest of a", () => ({ next: { ...NO_USAGE, dayUsed: 1 }, result: 0 })),
  usage.update("a", (shown) => ({ next: shown && { ...shown, bans: 1 }, result: 0 })),
];

it("while another connection holds the write lock, reads do not wait, and writes do without blocking the event loop until it is released", async () => {
  const storage = await openWith(60);
  other.exec("begin immediate");
  let settled = 0;
  const waiting = writes(storage).map((write) => write.finally(() => (settled += 1)));
  expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toEqual([]);
  expect((await storage.pets.find(1n))._unsafeUnwrap()).toBeUndefined();
  await turns(50);
  expect(settled).toBe(0);

  // The lock is held by this very thread: had the wait blocked it, it would never be released.
  other.exec("rollback");
  for (const result of await Promise.all(waiting)) expect(result.isOk()).toBe(true);
  expect(await usedBy(storage, "a")).toBe(1);
});

it("while another connection holds the write lock, writes fail after the timeout, and change nothing", async () => {
  const storage = await openWith(0.03);
  other.exec("begin immediate");
  const failed = await Promise.all(writes(storage));
  for (const result of failed)
    expect(result._unsafeUnwrapErr()).toMatchObject({ cause: { code: "SQLITE_BUSY" } });
  other.exec("rollback");
  expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toEqual([]);
  expect((await storage.keys.find("b"))._unsafeUnwrap()).toBeUndefined();

  for (const result of await Promise.all(writes(storage))) expect(result.isOk()).toBe(true);
  expect(await usedBy(storage, "a")).toBe(1);
});

it("while another connection holds the write lock, a close waits for the writes before it, and opening waits; a close that fails says why", async () => {
  const storage = await openWith(60);
  other.exec("begin immediate");
  const created = storage.pets.create(rex);
  const waiting = [storage.close(), openStorage({ filename, timeoutSeconds: 60 })] as const;
  await turns(10);
  other.exec("rollback");
  expect([(await created).isOk(), (await waiting[0]).isOk()]).toEqual([true, true]);
  const cause = new Database.SqliteError("disk I/O error", "SQLITE_IOERR");
  vi.spyOn(Database.prototype, "close").mockImplementationOnce(() => {
    throw cause;
  });
  expect((await (await waiting[1]).close())._unsafeUnwrapErr().cause).toBe(cause);
});

it("a read while another process recovers the log is retried until the timeout", async () => {
  const database = new Database(":memory:");
  let fails = 0;
  observe(database, (source) => {
    if (!source.includes('from "main"."pets"') || fails === 0) return;
    fails -= 1;
    throw new Database.SqliteError("database is locked", "SQLITE_BUSY_RECOVERY");
  });
  const patient = await openStorage({ database, timeoutSeconds: 60 });
  const hurried = await openStorage({ database, timeoutSeconds: 0.005 });
  fails = 3;
  expect((await patient.pets.find(1n)).isOk()).toBe(true);
  fails = Infinity;
  const cause = { code: "SQLITE_BUSY_RECOVERY" };
  expect((await hurried.pets.find(1n))._unsafeUnwrapErr()).toMatchObject({ cause });
});
