import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, chargeOnce, firstPage, rex, times } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
let storage: Storage;
beforeEach(async () => {
  storage = await openStorage({ filename: folder.path("pets.db") });
  for (const id of ["a", "b"]) await storage.keys.insert(aKey(id));
});

/** No storage can store it. */
const impossible = { ...rex, categoryId: 2n ** 63n };

const petsStored = async () => (await storage.pets.list(firstPage))._unsafeUnwrap().pets.length;

async function createOnce(token: string, now = 1_000, pet = rex) {
  return storage.pets.createOnce(pet, {
    token,
    fingerprint: "of rex",
    now,
    expiresAt: now + 1_000,
  });
}
const tokensStored = () =>
  new Database(folder.path("pets.db")).prepare("select count(*) from pet_creations").pluck().get();

/** How many commits the write-ahead log holds (sqlite.org/fileformat2.html#walformat). */
function commits(): number {
  const wal = readFileSync(folder.path("pets.db-wal"));
  const frameSize = 24 + wal.readUInt32BE(8);
  let count = 0;
  for (let frame = 32; frame + frameSize <= wal.length; frame += frameSize) {
    // Only the last frame of a commit holds the size of the database after it.
    if (wal.readUInt32BE(frame + 4) !== 0) count += 1;
  }
  return count;
}

describe("calls that arrive in one turn share one commit", () => {
  it.each<[what: string, commits: number, calls: () => Promise<unknown>[]]>([
    ["when they add pets", 1, () => times(32, () => storage.pets.create(rex))],
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
  ])("%s", async (_, expected, calls) => {
    const before = commits();
    await Promise.all(calls());
    expect(commits() - before).toBe(expected);
  });

  it("when they add pets with their tokens beside others", async () => {
    const before = commits();
    const created = times(32, (index) => createOnce(`token ${index % 20}`));
    await Promise.all([...created, storage.pets.create(rex)]);
    expect([commits() - before, await petsStored(), tokensStored()]).toEqual([1, 21, 20]);
  });
});

it("a call that fails in a shared commit fails alone, and none of its changes are stored", async () => {
  const takenDigest = { ...aKey("c"), secrets: [...aKey("new").secrets, ...aKey("a").secrets] };
  const [before, taken, wrong, after] = await Promise.all([
    storage.pets.create(rex),
    storage.keys.insert(takenDigest),
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
  expect(tokensStored()).toBe(50);
});

it("publishes each transaction with its group and the number of its calls", async () => {
  const signals: unknown[] = [];
  const collect = (signal: unknown) => void signals.push(signal);
  subscribe("petstore:transaction", collect);
  onTestFinished(() => void unsubscribe("petstore:transaction", collect));
  await Promise.all([storage.pets.create(rex), storage.pets.create(rex)]);
  await storage.pets.list(firstPage);
  await chargeOnce(storage, "a");
  const kind = { storage: "sqlite", failed: false };
  expect(signals).toMatchObject([
    { ...kind, group: "writes", calls: 2 },
    { ...kind, group: "reads", calls: 1 },
    { ...kind, group: "charges", calls: 1 },
  ]);
});
