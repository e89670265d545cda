import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { storageContract } from "@petstore/storage-contract";
import Database from "better-sqlite3";
import { describe, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { sized } from "../../../scripts/test-size.js";
import { createFolder, openStorage } from "./support/storage.js";

const createFixture = (open: (filename: string) => ReturnType<typeof openStorage>) => () => {
  const filename = join(createFolder(), "pets.db");
  const fixture = { open: () => open(filename), options: { filename } };
  return Promise.resolve({ ...fixture, remove: () => Promise.resolve() });
};

const MODULE = "packages/storage-sqlite/test/support/sqlite-module.ts";
const url = pathToFileURL(useBundled("sqlite-module", [MODULE])(MODULE)).href;
const isOwn = "every database in memory is one of its own";
const storages: readonly Parameters<typeof storageContract>[1][] = [
  {
    name: "a file",
    createFixture: createFixture((filename) => openStorage({ filename })),
    module: { url, rounds: sized(20, 150, 5_000) },
  },
  {
    name: "the database of a host",
    unsupported: { processes: "a file of its own is tried" },
    createFixture: createFixture((filename) => {
      const database = new Database(filename, { timeout: 2 }).defaultSafeIntegers(true);
      // Without ORDER BY, SQLite then returns rows in reverse order.
      database.pragma("reverse_unordered_selects = on");
      return openStorage({ database });
    }),
  },
  {
    name: "a database in memory",
    createFixture: createFixture(() => openStorage({ filename: ":memory:" })),
    unsupported: { reopening: "it is gone when it is closed", sharing: isOwn, processes: isOwn },
  },
];

for (const storage of storages.slice(0, sized(2, 3, 3))) storageContract({ describe, it }, storage);
