import type { Storage, StoredApiKey } from "@petstore/core";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { observe } from "./support/observe.js";
import { openStorage } from "./support/open-storage.js";
import { aKey, firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
const firstKey = { limit: 1, after: undefined, banned: false };
let database: Database.Database;
let shell: Database.Database;
let storage: Storage;
let afterStatement: (source: string) => void;
beforeEach(async () => {
  afterStatement = () => undefined;
  database = new Database(folder.path("pets.db"));
  shell = new Database(folder.path("pets.db"));
  observe(database, (source) => afterStatement(source));
  storage = await openStorage({ database });
});

/** Has another program commit this, once, right after the next read from a table. */
function meanwhile(table: string, statements: string): void {
  afterStatement = (source) => {
    if (!source.includes(`from "${table}"`)) return;
    afterStatement = () => undefined;
    shell.exec(statements);
  };
}

describe("a change that another program commits in the middle of a read", () => {
  it("is on the next page that is read", async () => {
    const countPets = async () => (await storage.pets.list(firstPage))._unsafeUnwrap().pets.length;
    await storage.pets.create(rex);
    meanwhile("pets", "delete from pets");
    expect(await countPets()).toBe(1);
    expect(await countPets()).toBe(0);
  });

  it.each<[how: string, read: () => Promise<StoredApiKey | undefined>]>([
    ["found", async () => (await storage.keys.find("a"))._unsafeUnwrap()?.key],
    ["listed", async () => (await storage.keys.list(firstKey))._unsafeUnwrap()[0]?.key],
  ])("is either no part of a key that is %s, or all of it is", async (_, read) => {
    const before = aKey("a");
    (await storage.keys.insert(before))._unsafeUnwrap();
    meanwhile(
      "api_keys",
      "update api_keys set plan = 'pro'; update api_key_secrets set hint = 'h'",
    );
    expect(await read()).toEqual(before);
    const secrets = before.secrets.map((secret) => ({ ...secret, hint: "h" }));
    expect(await read()).toEqual({ ...before, plan: "pro", secrets });
  });
});
