import type { PetPage, Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

describe("a page of pets", () => {
  const folder = useFolder();
  let storage: Storage;
  let shell: Database.Database;
  beforeEach(async () => {
    storage = await openStorage({ filename: folder.path("pets.db") });
    shell = new Database(folder.path("pets.db"));
    for (let count = 0; count < 3; count += 1) await storage.pets.create(rex);
  });
  const list = async (): Promise<PetPage> => (await storage.pets.list(firstPage))._unsafeUnwrap();

  it("is the same frozen object for as long as no pet changes", async () => {
    const page = await list();
    expect(await list()).toBe(page);
    expect([page, page.pets, ...page.pets].every(Object.isFrozen)).toBe(true);
  });

  it("is read again after a pet was added here", async () => {
    await list();
    await storage.pets.create(rex);
    expect((await list()).pets).toHaveLength(4);
  });

  it("is read again after any change by another program", async () => {
    for (const [change, expected] of [
      ["insert into pets (name, category_id, status) values ('New', 1, 'sold')", 4],
      ["insert or replace into pets values (2, 'New', 1, 'sold')", 4],
      ["update pets set name = 'Other' where id = 2", 4],
      ["delete from pets where id = 2", 3],
      ["delete from pets", 0],
    ] as const) {
      const before = await list();
      shell.exec(change);
      const after = await list();
      expect(after.pets).not.toEqual(before.pets);
      expect(after.pets).toHaveLength(expected);
    }
  });

  it("is read again if another program removed the revision", async () => {
    await list();
    shell.exec("delete from pets_revision; update pets set name = 'New'");
    expect((await list()).pets[0]?.name).toBe("New");
  });

  it("is dropped when the cache is full", async () => {
    const big = { ...rex, name: "x".repeat(60_000) };
    await Promise.all(Array.from({ length: 50 }, () => storage.pets.create(big)));
    const listAfter = async (after: number): Promise<PetPage> =>
      (await storage.pets.list({ ...firstPage, limit: 1, after: BigInt(after) }))._unsafeUnwrap();
    const first = await listAfter(3);
    expect(await listAfter(3)).toBe(first);
    for (let after = 4; after < 53; after += 1) await listAfter(after);
    const again = await listAfter(3);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
