import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectToFile } from "../src/connect.js";
import { createSqliteStorage } from "../src/sqlite-storage.js";
import { openStorage } from "./open-storage.js";
import { rex } from "./samples.js";
import { createFolder, type TemporaryFolder } from "./temporary-folder.js";

const NORMAL = 1;
const FULL = 2;

let folder: TemporaryFolder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.remove());

describe("durability", () => {
  it("syncs the disk at every commit of a pet, still after the first write", async () => {
    const connections = connectToFile(folder.path("pets.db"));
    const storage = createSqliteStorage(connections, 0);
    (await storage.pets.create(rex))._unsafeUnwrap();
    const levelOf = (connection: { database: { pragma(source: string): unknown } }): unknown =>
      connection.database.pragma("synchronous");
    expect(levelOf(connections.durable)).toEqual([{ synchronous: FULL }]);
    expect(levelOf(connections.swift)).toEqual([{ synchronous: NORMAL }]);
    await storage.close();
  });

  it("does so on a host's database that did not", async () => {
    const database = new Database(folder.path("host.db"));
    database.pragma("synchronous = OFF");
    const storage = await openStorage({ database });
    (await storage.pets.create(rex))._unsafeUnwrap();
    expect(database.pragma("synchronous", { simple: true })).toBe(FULL);
    expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
    database.close();
  });

  it("writes the log back as it grows, however many pets are added one by one", async () => {
    const filename = folder.path("pets.db");
    const storage = await openStorage({ filename });
    for (let count = 0; count < 4_000; count += 1) await storage.pets.create(rex);
    // SQLite writes back after 1,000 pages of 4 KiB; without it, these would be some 50 MB.
    expect(statSync(`${filename}-wal`).size).toBeLessThan(6_000_000);
    await storage.close();
  });
});
