import Database from "better-sqlite3";
import { storageContract } from "@petstore/storage-contract";
import { describe, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { openStorage } from "./support/open-storage.js";
import { createFolder } from "./support/temporary-folder.js";

storageContract(
  { describe, it },
  {
    name: "a file",
    createFixture: () => {
      const folder = createFolder();
      const filename = folder.path("pets.db");
      return Promise.resolve({
        open: () => openStorage({ filename }),
        remove: () => resolved(folder.remove),
      });
    },
  },
);

storageContract(
  { describe, it },
  {
    name: "the database of a host",
    createFixture: () => {
      const folder = createFolder();
      const databases: Database.Database[] = [];
      return Promise.resolve({
        open: () => {
          const database = new Database(folder.path("host.db"), { timeout: 2 });
          // Without ORDER BY, SQLite then returns rows in reverse order.
          database.pragma("reverse_unordered_selects = on");
          databases.push(database);
          return openStorage({ database });
        },
        remove: () =>
          resolved(() => {
            for (const database of databases) database.close();
            folder.remove();
          }),
      });
    },
  },
);

if (sized(0, 1, 1) > 0) {
  storageContract(
    { describe, it },
    {
      name: "a database in memory",
      createFixture: () =>
        Promise.resolve({
          open: () => openStorage({ filename: ":memory:" }),
          remove: () => Promise.resolve(),
        }),
      unsupported: {
        reopening: "a database in memory is gone when it is closed",
        sharing: "every database in memory is one of its own",
      },
    },
  );
}

function resolved(work: () => void): Promise<void> {
  work();
  return Promise.resolve();
}
