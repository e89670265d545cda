import type { Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
let database: Database.Database;
let storage: Storage;
beforeEach(async () => {
  database = new Database(folder.path("pets.db"));
  storage = await openStorage({ database });
});
afterEach(async () => {
  await storage.close();
  database.close();
});

const big = { ...rex, name: "x".repeat(60_000) };
const fill = (): void => {
  const pages = Number(database.pragma("page_count", { simple: true }));
  database.pragma(`max_page_count = ${pages + 20}`);
};

describe("on a full disk", () => {
  it("a pet that does not fit is not added, and earlier pets are kept", async () => {
    fill();
    const first = await storage.pets.create(big);
    expect(first.isOk()).toBe(true);

    const together = await Promise.all([storage.pets.create(rex), storage.pets.create(big)]);
    for (const result of together) {
      expect(result._unsafeUnwrapErr().message).toBe(
        "Adding a pet failed: the disk is full (SQLITE_FULL).",
      );
    }
    const key = { ...aKey("a"), label: big.name };
    expect((await storage.keys.insert(key)).isErr()).toBe(true);

    expect(database.inTransaction).toBe(false);
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toEqual([
      first._unsafeUnwrap(),
    ]);
    expect((await storage.keys.find("a"))._unsafeUnwrap()).toBeUndefined();
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  });

  it("everything works again when there is space", async () => {
    fill();
    await Promise.all([storage.pets.create(big), storage.pets.create(big)]);
    expect((await storage.pets.create(big)).isOk()).toBe(true);
    expect((await storage.pets.create(big)).isErr()).toBe(true);

    database.pragma("max_page_count = 100000");
    expect((await storage.pets.create(big)).isOk()).toBe(true);
    expect((await storage.keys.insert(aKey("a"))).isOk()).toBe(true);
  });
});
