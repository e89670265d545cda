import { readFileSync, writeFileSync } from "node:fs";
import { mock } from "node:test";
import { createPetStore } from "@petstore/core";
import type { Storage } from "@petstore/core/storage";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { expectSignals } from "../../storage-sql/test/support/signals.js";
import { openStorage, useFolder } from "./support/storage.js";
import { aKey, chargeOnce, firstPage, rex, times, usedBy } from "./support/storage.js";

const folder = useFolder();
let filename: string;
let storage: Storage;
beforeEach(async () => {
  filename = folder.path("pets.db");
  storage = await openStorage({ filename });
  for (const id of ["a", "b"]) await storage.keys.insert(aKey(id));
});

/** What test runners fake; Jest all of it without being asked. */
const FAKED = [
  ...(["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate"] as const),
  ...(["clearImmediate", "queueMicrotask", "Date", "performance"] as const),
];

const impossible = { ...rex, categoryId: 2n ** 63n };
const petsStored = async () => (await storage.pets.list(firstPage))._unsafeUnwrap().pets.length;

const createOnce = (token: string, now = 1_000, pet = rex) =>
  storage.pets.createOnce(pet, { token, fingerprint: "of rex", now, expiresAt: now + 1_000 });
const tokensStored = () =>
  new Database(filename).prepare("select count(*) from pet_creations").pluck().get();

/** How many commits the write-ahead log holds (sqlite.org/fileformat2.html#walformat). */
function commits(): number {
  const wal = readFileSync(`${filename}-wal`);
  const frameSize = 24 + wal.readUInt32BE(8);
  let count = 0;
  for (let frame = 32; frame + frameSize <= wal.length; frame += frameSize)
    if (wal.readUInt32BE(frame + 4) !== 0) count += 1;
  return count;
}

it.each<[what: string, commits: number, calls: () => Promise<unknown>[]]>([
  ["when they add pets", 1, () => times(32, () => storage.pets.create(rex))],
  ["when they add pets once", 1, () => times(9, (index) => createOnce(`${index % 5}`))],
  ["when they charge keys", 1, () => ["a", "b", "a", "b"].map((id) => chargeOnce(storage, id))],
  ["up to a thousand calls", 3, () => times(2_500, () => storage.pets.create(rex))],
  [
    "and write nothing if nothing changed",
    0,
    () => [
      storage.usage.charge("digest of a", (presented) => ({ result: presented })),
      storage.usage.charge("digest of a", (shown) => ({ next: shown?.usage, result: shown })),
      storage.usage.update("a", (shown) => ({ next: shown, result: shown })),
    ],
  ],
])("calls that arrive in one turn share one commit %s", async (_, expected, calls) => {
  const before = commits();
  await Promise.all(calls());
  expect(commits() - before).toBe(expected);
});

it("a call that fails in a shared commit fails alone, and none of its changes are stored", async () => {
  const [before, taken, wrong, after] = await Promise.all([
    storage.pets.create(rex),
    storage.keys.insert({ ...aKey("c"), secrets: [...aKey("new").secrets, ...aKey("a").secrets] }),
    createOnce("token", 1_000, impossible),
    storage.keys.insert(aKey("d")),
  ]);
  expect([before.isOk(), wrong.isErr(), after.isOk()]).toEqual([true, true, true]);
  expect(taken._unsafeUnwrapErr().message).toContain("SQLITE_CONSTRAINT");
  expect((await storage.keys.find("c"))._unsafeUnwrap()).toBeUndefined();
  expect((await storage.usage.findByDigest("digest of new"))._unsafeUnwrap()).toBeUndefined();
  expect((await storage.keys.find("d"))._unsafeUnwrap()?.key).toEqual(aKey("d"));
  expect([await petsStored(), tokensStored()]).toEqual([1, 0]);
  expect((await createOnce("token"))._unsafeUnwrap().replayed).toBe(false);
});

it("expired tokens are removed a few with each new one", async () => {
  await Promise.all(times(100, (index) => createOnce(`old ${index}`)));
  for (let count = 1; count <= 50; count += 1) {
    await createOnce(`new ${count}`, 2_000);
    expect(tokensStored()).toBe(100 - count);
  }
});

it("publishes each transaction", () => expectSignals(storage, "sqlite"));

async function chargeAnd<T>(keyId: string, read: () => T): Promise<Awaited<T>> {
  const charged = await storage.usage.charge(`digest of ${keyId}`, (presented) => ({
    next: presented && { ...presented.usage, dayUsed: presented.usage.dayUsed + 1 },
    result: read(),
  }));
  return await charged._unsafeUnwrap();
}
const find = (id: bigint) => () => storage.pets.find(id);

it("a page that is damaged fails the read, and not the charge", async () => {
  await Promise.all(times(2_000, () => storage.pets.create({ ...rex, name: "x".repeat(100) })));
  await storage.close();
  const bytes = readFileSync(filename);
  writeFileSync(filename, bytes.fill(0xff, bytes.length - 20 * 4_096, bytes.length - 4_096));
  storage = await openStorage({ filename });
  const pets = [chargeAnd("a", find(1_900n)), chargeAnd("a", find(1n))] as const;
  const [damaged, intact] = await Promise.all(pets);
  expect(damaged._unsafeUnwrapErr()).toMatchObject({ cause: { code: "SQLITE_CORRUPT" } });
  expect([intact._unsafeUnwrap()?.id, await usedBy(storage, "a")]).toEqual([1n, 2]);
});

it.each<[what: string, freeze: () => void]>([
  ["Vitest and Jest", () => vi.useFakeTimers({ toFake: FAKED })],
  ["Node", () => mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate"] })],
])("under the fake timers of %s, calls end in time and events arrive", async (_, freeze) => {
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => mock.timers.reset());
  const store = createPetStore({ storage });
  freeze();
  const event = new Promise((resolve) => store.events.on("key_issued", resolve));
  const { secret } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
  expect(await event).toMatchObject({ type: "key_issued" });
  const created = await store.as(secret).createPet({ name: "Rex", categoryId: 1n });
  expect(created._unsafeUnwrap().pet.id).toBe(1n);
  expect((await store.as(secret).listPets())._unsafeUnwrap().pets).toHaveLength(1);
  expect((await store.keys.purge({ olderThanSeconds: 0 })).isOk()).toBe(true);
  const other = new Database(filename).exec("begin immediate");
  const busy = await openSqliteStorage({ filename, timeoutSeconds: 0.03 });
  expect(busy._unsafeUnwrapErr().code).toBe("busy");
  other.close();
  await store.close();
});
