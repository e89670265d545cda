import type { PetPage } from "@petstore/core";
import type { Storage, StoredApiKey } from "@petstore/core/storage";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { observe } from "./support/observe.js";
import { openStorage, useFolder } from "./support/storage.js";
import { aKey, chargeOnce, firstPage, rex, times } from "./support/storage.js";

const folder = useFolder();
let filename: string;
let storage: Storage;
let shell: Database.Database;
beforeEach(async () => {
  filename = folder.path("pets.db");
  storage = await openStorage({ filename });
  shell = new Database(filename);
});

const insert = (id: bigint) =>
  `insert into pets (id, name, category_id, status) values (${id}, 'New', 1, 'sold')`;
const create = async (): Promise<bigint> => (await storage.pets.create(rex))._unsafeUnwrap().id;
const list = async (from = storage, query = {}): Promise<PetPage> =>
  (await from.pets.list({ ...firstPage, ...query }))._unsafeUnwrap();

it("the id of a new pet is greater than that of a removed pet, and than one that was set by hand", async () => {
  expect(await Promise.all(times(3, create))).toEqual([1n, 2n, 3n]);
  shell.exec("delete from pets");
  expect(await create()).toBe(4n);
  shell.exec(insert(40n));
  expect(await create()).toBe(41n);
  shell.exec("update pets set id = 1000 where id = 40");
  expect(await create()).toBe(1_001n);
});

it("the greatest id is assigned, and then creates fail", async () => {
  shell.exec(insert(2n ** 63n - 3n));
  const [first, last, none] = await Promise.all(times(3, () => storage.pets.create(rex)));
  expect(first?._unsafeUnwrap().id).toBe(2n ** 63n - 2n);
  expect(last?._unsafeUnwrap().id).toBe(2n ** 63n - 1n);
  expect(none?._unsafeUnwrapErr().message).toBe("Adding a pet failed: no id is left.");
  expect((await storage.pets.create(rex)).isErr()).toBe(true);
});

describe("a page of pets", () => {
  beforeEach(() => Promise.all(times(3, create)));

  it("is the same frozen object until any change by another program, also of the revision", async () => {
    const page = await list();
    expect(await list()).toBe(page);
    expect([page, page.pets, ...page.pets].every(Object.isFrozen)).toBe(true);
    for (const [change, expected] of [
      ["insert into pets (name, category_id, status) values ('New', 1, 'sold')", 4],
      [insert(2n).replace("insert", "insert or replace"), 4],
      ["update pets set name = 'Other' where id = 2", 4],
      ["delete from pets where id = 2", 3],
      ["delete from pets", 0],
      [`delete from pets_revision; ${insert(9n)}`, 1],
      ["delete from pets", 0],
    ] as const) {
      const before = await list();
      shell.exec(change);
      const after = await list();
      expect(after.pets).not.toEqual(before.pets);
      expect(after.pets).toHaveLength(expected);
      if (change.includes("where")) expect(await list()).toBe(after);
    }
  });

  it("is dropped when the cache is full", async () => {
    await Promise.all(times(70, () => storage.pets.create({ ...rex, name: "x".repeat(60_000) })));
    const listAfter = (after: number) => list(storage, { limit: 1, after: BigInt(after) });
    const first = await listAfter(3);
    expect(await listAfter(3)).toBe(first);
    for (let after = 4; after < 73; after += 1) await listAfter(after);
    const again = await listAfter(3);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});

describe("what a charge has read of a key is read again", () => {
  beforeEach(async () => {
    for (const id of ["a", "b"]) await storage.keys.insert(aKey(id));
    await chargeOnce(storage, "a");
  });
  const dayUsed = () => shell.prepare("select day_used from api_key_usage").pluck().get();

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
    expect([dayUsed(), await chargeOnce(storage, "a")]).toEqual([2, 2]);
  });

  it("after a host has changed it on the same connection", async () => {
    const ofHost = await openStorage({ database: shell });
    for (const used of [10, 20]) {
      shell.exec(`update api_key_usage set day_used = ${used}`);
      expect(await chargeOnce(ofHost, "a")).toBe(used);
    }
  });

  it("after very many others were charged", async () => {
    const ids = times(10_001, (index) => `many ${index}`);
    await Promise.all(ids.map((id) => storage.keys.insert(aKey(id))));
    const charge = () => Promise.all(ids.map((id) => chargeOnce(storage, id)));
    expect(new Set(await charge())).toEqual(new Set([0]));
    expect([new Set(await charge()), await chargeOnce(storage, "a")]).toEqual([new Set([1]), 1]);
  });
});

async function openDisturbed(table: string, statements: string): Promise<Storage> {
  const database = new Database(filename);
  let next = statements;
  observe(database, (source) => {
    if (!source.includes(`from "main"."${table}"`)) return;
    shell.exec(next);
    next = "";
  });
  return openStorage({ database });
}

it("a change that another program commits in the middle of a read is on the next page that is read", async () => {
  await create();
  const reader = await openDisturbed("pets", "delete from pets");
  expect((await list(reader)).pets).toHaveLength(1);
  expect((await list(reader)).pets).toEqual([]);
});

const firstKey = { limit: 1, after: undefined, banned: false };
it.each<[how: string, read: (from: Storage) => Promise<StoredApiKey | undefined>]>([
  ["found", async ({ keys }) => (await keys.find("a"))._unsafeUnwrap()?.key],
  ["listed", async ({ keys }) => (await keys.list(firstKey))._unsafeUnwrap()[0]?.key],
])("a key that is %s has none of a change in the middle of a read, or all", async (_, read) => {
  const before = aKey("a");
  (await storage.keys.insert(before))._unsafeUnwrap();
  const changes = "update api_keys set plan = 'pro'; update api_key_secrets set hint = 'h'";
  const reader = await openDisturbed("api_keys", changes);
  expect(await read(reader)).toEqual(before);
  const secrets = before.secrets.map((secret) => ({ ...secret, hint: "h" }));
  expect(await read(reader)).toEqual({ ...before, plan: "pro", secrets });
});
