import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { backupSqliteFile, openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./support/open-storage.js";
import { aKey, firstPage, rex } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const folder = useFolder();
let backup: string;
beforeEach(async () => {
  const filename = folder.path("pets.db");
  const storage = await openStorage({ filename });
  (await storage.pets.create(rex))._unsafeUnwrap();
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
  mkdirSync(folder.path("backups"));
  backup = folder.path("backups/monday.db");
  (await backupSqliteFile({ filename, to: backup }))._unsafeUnwrap();
  await storage.close();
  chmodSync(backup, 0o444);
});

describe("a backup that is opened read-only", () => {
  it("is read, and nothing is written to it or beside it", async () => {
    const before = readFileSync(backup);
    const storage = await openStorage({ filename: backup, readOnly: true });
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(1);
    expect((await storage.keys.find("a"))._unsafeUnwrap()?.key).toEqual(aKey("a"));
    expect((await storage.pets.create(rex))._unsafeUnwrapErr().message).toBe(
      "Adding a pet failed: the database is read-only (SQLITE_READONLY).",
    );
    expect(readdirSync(folder.path("backups"))).toEqual(["monday.db"]);
    expect((await storage.close()).isOk()).toBe(true);
    expect(readFileSync(backup)).toEqual(before);
  });

  it.each([
    ["schema_too_new", "insert into petstore_migrations values (1000, 'later')"],
    ["read_only", "delete from petstore_migrations"],
    ["schema_conflict", "drop table petstore_migrations"],
  ])("is refused with %s if its schema is not this version's", async (code, change) => {
    chmodSync(backup, 0o644);
    new Database(backup).exec(change).close();
    const opened = await openSqliteStorage({ filename: backup, readOnly: true });
    expect(opened._unsafeUnwrapErr().code).toBe(code);
  });

  it("is not created", async () => {
    const filename = folder.path("backups/none.db");
    const opened = await openSqliteStorage({ filename, readOnly: true });
    expect(opened._unsafeUnwrapErr().code).toBe("cannot_open");
    expect(readdirSync(folder.path("backups"))).toEqual(["monday.db"]);
  });
});
