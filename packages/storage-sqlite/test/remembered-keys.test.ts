import { NO_USAGE, type Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, chargeOnce } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const twoSecrets = { ...aKey("a"), secrets: [...aKey("a").secrets, ...aKey("old").secrets] };

describe("what a charge has read of a key is read again", () => {
  const folder = useFolder();
  let storage: Storage;
  let other: Storage;
  let shell: Database.Database;
  beforeEach(async () => {
    storage = await openStorage({ filename: folder.path("pets.db") });
    other = await openStorage({ filename: folder.path("pets.db") });
    shell = new Database(folder.path("pets.db"));
    await storage.keys.insert(twoSecrets);
    await storage.keys.insert(aKey("b"));
    await chargeOnce(storage, "a");
  });
  const presentedKeyOf = async (digest: string) =>
    (await storage.usage.charge(digest, (presented) => ({ result: presented })))._unsafeUnwrap();

  it.each<[what: string, charge: () => Promise<number>]>([
    ["by another storage", () => chargeOnce(other, "a")],
    ["with its other secret", () => chargeOnce(storage, "old")],
  ])("after it was charged %s", async (_, charge) => {
    for (const used of [1, 3, 5]) {
      expect(await charge()).toBe(used);
      expect(await chargeOnce(storage, "a")).toBe(used + 1);
    }
  });

  it("after its usage was changed by its id, and the key was changed here", async () => {
    await storage.usage.update("a", (usage) => ({
      next: usage && { ...usage, dayUsed: 500 },
      result: undefined,
    }));
    expect(await chargeOnce(storage, "a")).toBe(500);
    await storage.keys.update("a", (key) => ({
      next: key && { ...key, revokedAt: 7, secrets: aKey("a").secrets },
      result: undefined,
    }));
    expect((await presentedKeyOf("digest of a"))?.key.revokedAt).toBe(7);
    expect(await presentedKeyOf("digest of old")).toBeUndefined();
  });

  it("after it was changed by another program, and after it was removed", async () => {
    shell.exec("update api_keys set revoked_at = 7; update api_key_usage set day_used = 500");
    expect(await presentedKeyOf("digest of a")).toMatchObject({
      key: { revokedAt: 7 },
      usage: { dayUsed: 500 },
    });
    await storage.keys.remove(["a"]);
    expect(await presentedKeyOf("digest of a")).toBeUndefined();
    await storage.keys.insert(aKey("a"));
    expect(await chargeOnce(storage, "a")).toBe(0);
  });

  it("after a transaction that has changed it was rolled back", async () => {
    // They share a transaction first, and the usage of `a` is written before that of `b` fails.
    const [before, failed] = await Promise.all([
      chargeOnce(storage, "a"),
      storage.usage.charge("digest of b", (presented) => ({
        next: presented && { ...presented.usage, dayUsed: NaN },
        result: undefined,
      })),
    ]);
    expect(before).toBe(1);
    expect(failed._unsafeUnwrapErr().message).toContain("SQLITE_CONSTRAINT");
    expect(shell.prepare("select day_used from api_key_usage").pluck().get()).toBe(2);
    expect(await chargeOnce(storage, "a")).toBe(2);
  });

  it("after the caller has changed the object that it saved", async () => {
    const mine = { ...NO_USAGE };
    for (const used of [1, 2, 3]) {
      await storage.usage.charge("digest of a", () => {
        mine.dayUsed = used;
        return { next: mine, result: undefined };
      });
    }
    expect(shell.prepare("select day_used from api_key_usage").pluck().get()).toBe(3);
  });

  it("after a host has changed it on the same connection", async () => {
    const ofHost = await openStorage({ database: shell });
    for (const used of [10, 20]) {
      shell.exec(`update api_key_usage set day_used = ${used}`);
      expect(await chargeOnce(ofHost, "a")).toBe(used);
    }
  });

  it("after very many others were charged", async () => {
    const ids = Array.from({ length: 10_001 }, (_, index) => `many ${index}`);
    await Promise.all(ids.map((id) => storage.keys.insert(aKey(id))));
    const charge = () => Promise.all(ids.map((id) => chargeOnce(storage, id)));
    expect(new Set(await charge())).toEqual(new Set([0]));
    expect(new Set(await charge())).toEqual(new Set([1]));
    expect(await chargeOnce(storage, "a")).toBe(1);
  });
});
