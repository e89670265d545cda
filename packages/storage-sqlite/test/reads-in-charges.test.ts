import { readFileSync, writeFileSync } from "node:fs";
import { createPetStore, type Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { expect, it, onTestFinished, vi } from "vitest";
import { observe } from "./support/observe.js";
import { openStorage } from "./support/open-storage.js";
import { aKey, firstPage, rex, times, usedBy } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();

/** Charges a key and finds a pet in one call. */
function chargeAndFind(storage: Storage, keyId: string, petId: bigint) {
  return storage.usage.charge(`digest of ${keyId}`, (presented) => ({
    next: presented && { ...presented.usage, dayUsed: presented.usage.dayUsed + 1 },
    result: storage.pets.find(petId),
  }));
}

it("a caller's read and its charge are one transaction", async () => {
  // The files are looked at every 100 ms, which would be one more statement.
  vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const statements: string[] = [];
  const verbose = (statement: unknown) =>
    void statements.push(String(statement).split(" ")[0] ?? "");
  const database = new Database(folder.path("pets.db"), { verbose });
  const store = createPetStore({ storage: await openStorage({ database }) });
  const caller = store.as((await store.keys.issue({ plan: "pro" }))._unsafeUnwrap().secret);
  await store.trusted.createPet({ name: "Rex", categoryId: 7n });
  await caller.listPets();
  for (const call of [() => caller.getPet(1n), () => caller.listPets()]) {
    statements.length = 0;
    expect((await call()).isOk()).toBe(true);
    expect(statements).toEqual(["begin", "select", "select", "insert", "commit"]);
  }
});

it("a page that is damaged fails the read, and not the charge", async () => {
  const filename = folder.path("damaged.db");
  const sound = await openStorage({ filename });
  await sound.keys.insert(aKey("a"));
  await Promise.all(times(2_000, () => sound.pets.create({ ...rex, name: "x".repeat(100) })));
  await sound.close();
  const bytes = readFileSync(filename);
  writeFileSync(filename, bytes.fill(0xff, bytes.length - 20 * 4_096, bytes.length - 4_096));
  const storage = await openStorage({ filename });
  const [damaged, intact] = await Promise.all([
    chargeAndFind(storage, "a", 1_900n),
    chargeAndFind(storage, "a", 1n),
  ]);
  expect((await damaged._unsafeUnwrap())._unsafeUnwrapErr().message).toBe(
    "Finding a pet failed: the file is damaged (SQLITE_CORRUPT).",
  );
  expect((await intact._unsafeUnwrap())._unsafeUnwrap()?.id).toBe(1n);
  expect(await usedBy(storage, "a")).toBe(2);
});

it("a read that cannot read the file fails, even if SQLite has rolled its charge back", async () => {
  const database = new Database(folder.path("unreadable.db"));
  let isReadable = true;
  observe(database, (source) => {
    if (isReadable || !source.includes('from "pets" where "id" =')) return;
    if (database.inTransaction) database.exec("rollback");
    throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_READ");
  });
  const storage = await openStorage({ database });
  for (const id of ["a", "b"]) await storage.keys.insert(aKey(id));
  await storage.pets.create(rex);
  isReadable = false;
  const [listed, found] = await Promise.all([
    storage.usage.charge("digest of a", (presented) => ({
      next: presented && { ...presented.usage, dayUsed: 1 },
      result: storage.pets.list(firstPage),
    })),
    chargeAndFind(storage, "b", 1n),
  ]);
  expect((await listed._unsafeUnwrap())._unsafeUnwrap().pets).toHaveLength(1);
  expect((await found._unsafeUnwrap())._unsafeUnwrapErr().message).toBe(
    "Finding a pet failed: reading or writing the file failed (SQLITE_IOERR_READ).",
  );
  isReadable = true;
  expect((await (await chargeAndFind(storage, "b", 1n))._unsafeUnwrap()).isOk()).toBe(true);
  expect([await usedBy(storage, "a"), await usedBy(storage, "b")]).toEqual([1, 2]);
});
