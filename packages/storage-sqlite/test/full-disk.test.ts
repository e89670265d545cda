import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();

it("on a full disk, what does not fit is not added, earlier pets are kept, and all works again when there is space", async () => {
  const database = new Database(folder.path("pets.db"));
  const storage = await openStorage({ database });
  const big = { ...rex, name: "x".repeat(60_000) };
  const pages = Number(database.pragma("page_count", { simple: true }));
  database.pragma(`max_page_count = ${pages + 20}`);
  const first = (await storage.pets.create(big))._unsafeUnwrap();

  for (const result of await Promise.all([storage.pets.create(rex), storage.pets.create(big)])) {
    expect(result._unsafeUnwrapErr().message).toBe(
      "Adding a pet failed: the disk is full (SQLITE_FULL).",
    );
  }
  expect((await storage.keys.insert({ ...aKey("a"), label: big.name })).isErr()).toBe(true);
  expect(database.inTransaction).toBe(false);
  expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toEqual([first]);
  expect((await storage.keys.find("a"))._unsafeUnwrap()).toBeUndefined();
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");

  database.pragma("max_page_count = 100000");
  expect((await storage.pets.create(big)).isOk()).toBe(true);
  expect((await storage.keys.insert(aKey("a"))).isOk()).toBe(true);
});
