import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Storage } from "@petstore/core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, chargeOnce, firstPage, rex, times } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";
import { commitsIn } from "./support/wal-commits.js";

const folder = useFolder();
let storage: Storage;
beforeEach(async () => {
  storage = await openStorage({ filename: folder.path("pets.db") });
  for (const id of ["a", "b"]) await storage.keys.insert(aKey(id));
});
afterEach(() => storage.close());

async function commitsOf(work: () => PromiseLike<unknown>): Promise<number> {
  const before = commitsIn(folder.path("pets.db-wal"));
  await work();
  return commitsIn(folder.path("pets.db-wal")) - before;
}

describe("calls that arrive in one turn share one commit", () => {
  it("when they add pets", async () => {
    expect(await commitsOf(() => Promise.all(times(32, () => storage.pets.create(rex))))).toBe(1);
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(32);
  });

  it("when they charge keys", async () => {
    const charges = () => [...times(16, () => "a"), ...times(16, () => "b")];
    expect(await commitsOf(() => Promise.all(charges().map((id) => chargeOnce(storage, id))))).toBe(
      1,
    );
  });

  it("up to a thousand calls", async () => {
    expect(await commitsOf(() => Promise.all(times(2_500, () => storage.pets.create(rex))))).toBe(
      3,
    );
  });

  it("and write nothing if nothing changed", async () => {
    const { usage } = storage;
    const looks = () => [
      usage.charge("digest of a", (presented) => ({ result: presented })),
      usage.charge("digest of a", (presented) => ({ next: presented?.usage, result: presented })),
      usage.update("a", (shown) => ({ next: shown, result: shown })),
    ];
    expect(await commitsOf(() => Promise.all(looks()))).toBe(0);
  });
});

describe("a call that fails in a shared commit", () => {
  it("fails alone, and none of its changes are stored", async () => {
    const takenDigest = { ...aKey("c"), secrets: [...aKey("new").secrets, ...aKey("a").secrets] };
    const impossible = { ...rex, categoryId: 2n ** 63n };
    const [before, taken, wrong, after] = await Promise.all([
      storage.pets.create(rex),
      storage.keys.insert(takenDigest),
      storage.pets.create(impossible),
      storage.keys.insert(aKey("d")),
    ]);

    expect(before.isOk()).toBe(true);
    expect(taken._unsafeUnwrapErr().message).toContain("SQLITE_CONSTRAINT");
    expect(wrong.isErr()).toBe(true);
    expect(after.isOk()).toBe(true);
    expect((await storage.keys.find("c"))._unsafeUnwrap()).toBeUndefined();
    const shown = await storage.usage.charge("digest of new", (presented) => ({
      result: presented,
    }));
    expect(shown._unsafeUnwrap()).toBeUndefined();
    expect((await storage.keys.find("d"))._unsafeUnwrap()?.key).toEqual(aKey("d"));
  });

  it("does not affect later calls: they share commits again", async () => {
    const impossible = { ...rex, categoryId: 2n ** 63n };
    await Promise.all([storage.pets.create(rex), storage.pets.create(impossible)]);
    expect(await commitsOf(() => Promise.all(times(32, () => storage.pets.create(rex))))).toBe(1);
  });
});

it("publishes each transaction with its group and the number of its calls", async () => {
  const signals: unknown[] = [];
  const collect = (signal: unknown) => void signals.push(signal);
  subscribe("petstore:transaction", collect);
  onTestFinished(() => void unsubscribe("petstore:transaction", collect));
  await Promise.all([storage.pets.create(rex), storage.pets.create(rex)]);
  await storage.pets.list(firstPage);
  await chargeOnce(storage, "a");
  const milliseconds = expect.any(Number) as number;
  const rest = { waitMilliseconds: milliseconds, commitMilliseconds: milliseconds, failed: false };
  expect(signals).toEqual([
    { storage: "sqlite", group: "writes", calls: 2, ...rest },
    { storage: "sqlite", group: "reads", calls: 1, ...rest },
    { storage: "sqlite", group: "charges", calls: 1, ...rest },
  ]);
});
