import { copyFileSync, renameSync, rmSync } from "node:fs";
import type { Storage } from "@petstore/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStorage } from "./open-storage.js";
import { aKey, firstPage, rex } from "./samples.js";
import { useFolder } from "./temporary-folder.js";

const folder = useFolder();
let path: string;
let storage: Storage;
beforeEach(async () => {
  path = folder.path("pets.db");
  storage = await openStorage({ filename: path });
  (await storage.pets.create(rex))._unsafeUnwrap();
});
afterEach(() => storage.close());

const MOVED = "the database file or its log was removed or replaced";

describe("while its file is moved away", () => {
  it.each<[happened: string, move: () => void]>([
    ["removed", () => rmSync(path)],
    ["renamed", () => renameSync(path, folder.path("elsewhere.db"))],
    ["bereft of its log", () => rmSync(`${path}-wal`)],
    [
      "replaced",
      () => {
        copyFileSync(path, folder.path("other.db"));
        renameSync(folder.path("other.db"), path);
      },
    ],
  ])("%s, a storage acknowledges nothing that would be lost", async (_, move) => {
    move();
    const together = await Promise.all([storage.pets.create(rex), storage.pets.create(rex)]);
    for (const created of together) {
      expect(created._unsafeUnwrapErr().message).toBe(`Adding a pet failed: ${MOVED}.`);
    }
    expect((await storage.keys.insert(aKey("a")))._unsafeUnwrapErr().message).toContain(MOVED);
  });

  it("it adds no pet, and works again once the file is back", async () => {
    renameSync(path, folder.path("elsewhere.db"));
    expect((await storage.pets.create(rex)).isErr()).toBe(true);
    renameSync(folder.path("elsewhere.db"), path);
    expect((await storage.pets.create(rex))._unsafeUnwrap().id).toBe(2n);
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(2);
  });
});
