import type { Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
let storage: Storage;
beforeEach(async () => {
  storage = await openStorage({ filename: folder.path("pets.db") });
});
afterEach(() => storage.close());

/** Changes the database as an operator with SQLite's shell could. */
function byHand(statement: string): void {
  const database = new Database(folder.path("pets.db"));
  database.exec(statement);
  database.close();
}
const create = async (): Promise<bigint> => (await storage.pets.create(rex))._unsafeUnwrap().id;

describe("the id of a new pet", () => {
  it("follows the ids that were assigned in the same turn", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, create));
    expect(ids).toEqual(Array.from({ length: 30 }, (_, index) => BigInt(index + 1)));
    const { pets } = (await storage.pets.list({ ...firstPage, limit: 100 }))._unsafeUnwrap();
    expect(pets.map(({ id }) => id)).toEqual(ids);
  });

  it("is greater than the id of a removed pet", async () => {
    await create();
    const newest = await create();
    byHand("delete from pets");
    expect(await create()).toBe(newest + 1n);
  });

  it("is greater than an id that was set by hand", async () => {
    await create();
    byHand("insert into pets (id, name, category_id, status) values (40, '', 1, 'sold')");
    expect(await create()).toBe(41n);
    byHand("update pets set id = 1000 where id = 40");
    expect(await create()).toBe(1_001n);
  });
});

describe("when the ids run out", () => {
  it("the greatest id is assigned, and then creates fail", async () => {
    byHand(`insert into pets (id, name, category_id, status)
      values (${String(2n ** 63n - 3n)}, '', 1, 'sold')`);
    const [first, last, none] = await Promise.all([
      storage.pets.create(rex),
      storage.pets.create(rex),
      storage.pets.create(rex),
    ]);
    expect(first._unsafeUnwrap().id).toBe(2n ** 63n - 2n);
    expect(last._unsafeUnwrap().id).toBe(2n ** 63n - 1n);
    expect(none._unsafeUnwrapErr().message).toBe("Adding a pet failed: no id is left.");
    expect((await storage.pets.create(rex)).isErr()).toBe(true);
  });
});
