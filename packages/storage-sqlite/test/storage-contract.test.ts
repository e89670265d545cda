import { join } from "node:path";
import { storageContract, type StorageUnderTest } from "@petstore/storage-contract";
import Database from "better-sqlite3";
import { describe, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { createFolder, openStorage } from "./support/storage.js";

function fixtureOf(open: (filename: string) => ReturnType<typeof openStorage>) {
  const filename = join(createFolder(), "pets.db");
  return Promise.resolve({ open: () => open(filename), remove: () => Promise.resolve() });
}

const storages: readonly StorageUnderTest[] = [
  { name: "a file", createFixture: () => fixtureOf((filename) => openStorage({ filename })) },
  {
    name: "the database of a host",
    createFixture: () =>
      fixtureOf((filename) => {
        const database = new Database(filename, { timeout: 2 });
        // Without ORDER BY, SQLite then returns rows in reverse order.
        database.pragma("reverse_unordered_selects = on");
        return openStorage({ database });
      }),
  },
  {
    name: "a database in memory",
    createFixture: () => fixtureOf(() => openStorage({ filename: ":memory:" })),
    unsupported: {
      reopening: "a database in memory is gone when it is closed",
      sharing: "every database in memory is one of its own",
    },
  },
];

for (const storage of storages.slice(0, sized(2, 3, 3))) storageContract({ describe, it }, storage);
