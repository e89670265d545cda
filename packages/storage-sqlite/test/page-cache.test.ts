import type { PetPage, Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPageCache } from "../src/page-cache.js";
import { openStorage } from "./open-storage.js";
import { firstPage, rex } from "./samples.js";
import { createFolder, type TemporaryFolder } from "./temporary-folder.js";

describe("a page of pets", () => {
  let folder: TemporaryFolder;
  let storage: Storage;
  let shell: Database.Database;
  beforeEach(async () => {
    folder = createFolder();
    storage = await openStorage({ filename: folder.path("pets.db") });
    shell = new Database(folder.path("pets.db"));
    for (let count = 0; count < 3; count += 1) await storage.pets.create(rex);
  });
  afterEach(async () => {
    await storage.close();
    shell.close();
    folder.remove();
  });
  const list = async (): Promise<PetPage> => (await storage.pets.list(firstPage))._unsafeUnwrap();

  it("is the same frozen object for as long as no pet changes", async () => {
    const page = await list();
    expect(await list()).toBe(page);
    expect([page, page.pets, ...page.pets].every(Object.isFrozen)).toBe(true);
  });

  it("is read anew after a pet was added here", async () => {
    await list();
    await storage.pets.create(rex);
    expect((await list()).pets).toHaveLength(4);
  });

  it.each([
    ["inserts a pet", "insert into pets (name, category_id, status) values ('New', 1, 'sold')", 4],
    ["inserts one with an old id", "insert or replace into pets values (2, 'New', 1, 'sold')", 3],
    ["updates a pet", "update pets set name = 'New' where id = 2", 3],
    ["deletes a pet", "delete from pets where id = 2", 2],
    ["deletes them all", "delete from pets", 0],
  ])("is read anew after another program %s", async (_change, statement, expected) => {
    const before = await list();
    shell.exec(statement);
    const after = await list();
    expect(after.pets).not.toEqual(before.pets);
    expect(after.pets).toHaveLength(expected);
  });

  it("is read anew when another program has removed the revision", async () => {
    await list();
    shell.exec("delete from pets_revision; update pets set name = 'New'");
    expect((await list()).pets[0]?.name).toBe("New");
  });
});

describe("the page cache", () => {
  const pageOf = (name: string): PetPage => ({ pets: [{ ...rex, name, id: 1n }], next: undefined });
  const query = (limit: number) => ({ ...firstPage, limit });

  it("knows a page by revision, limit, status and after", () => {
    const cache = createPageCache();
    const page = pageOf("Rex");
    cache.keep(1, firstPage, page);
    expect(cache.find(1, { ...firstPage })).toBe(page);
    expect(cache.find(2, firstPage)).toBeUndefined();
    expect(cache.find(1, { ...firstPage, limit: 99 })).toBeUndefined();
    expect(cache.find(1, { ...firstPage, status: "sold" })).toBeUndefined();
    expect(cache.find(1, { ...firstPage, after: 0n })).toBeUndefined();
  });

  it("holds no more than its capacity", () => {
    const cache = createPageCache(1_000);
    for (const limit of [1, 2, 3]) cache.keep(1, query(limit), pageOf("x".repeat(300)));
    const held = [1, 2, 3].filter((limit) => cache.find(1, query(limit)));
    expect(held).toEqual([3]);
    cache.keep(1, query(4), pageOf("x".repeat(2_000)));
    expect(cache.find(1, query(4))).toBeUndefined();
  });
});
