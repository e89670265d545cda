import type { Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { beforeEach, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { rex, times } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
let storage: Storage;
let shell: Database.Database;
beforeEach(async () => {
  storage = await openStorage({ filename: folder.path("pets.db") });
  shell = new Database(folder.path("pets.db"));
});

const create = async (): Promise<bigint> => (await storage.pets.create(rex))._unsafeUnwrap().id;

it("the id of a new pet is greater than that of a removed pet, and than one that was set by hand", async () => {
  expect(await Promise.all(times(3, create))).toEqual([1n, 2n, 3n]);
  shell.exec("delete from pets");
  expect(await create()).toBe(4n);
  shell.exec("insert into pets (id, name, category_id, status) values (40, '', 1, 'sold')");
  expect(await create()).toBe(41n);
  shell.exec("update pets set id = 1000 where id = 40");
  expect(await create()).toBe(1_001n);
});

it("the greatest id is assigned, and then creates fail", async () => {
  shell.exec(`insert into pets (id, name, category_id, status)
    values (${2n ** 63n - 3n}, '', 1, 'sold')`);
  const [first, last, none] = await Promise.all(times(3, () => storage.pets.create(rex)));
  expect(first?._unsafeUnwrap().id).toBe(2n ** 63n - 2n);
  expect(last?._unsafeUnwrap().id).toBe(2n ** 63n - 1n);
  expect(none?._unsafeUnwrapErr().message).toBe("Adding a pet failed: no id is left.");
  expect((await storage.pets.create(rex)).isErr()).toBe(true);
});
