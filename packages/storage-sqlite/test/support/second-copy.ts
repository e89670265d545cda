import { copyFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import type Database from "better-sqlite3";

const require = createRequire(import.meta.url);

/** Reads a database by another copy of SQLite: Node's; on Node 20, the driver's at the path `nativeBinding`. */
export function readBySecondCopy(path: string, nativeBinding: string): void {
  const database = openBySecondCopy(path, nativeBinding);
  database.prepare("select count(*) from pets").get();
  database.close();
}

function openBySecondCopy(path: string, nativeBinding: string): Database.Database {
  if (!process.versions.node.startsWith("20.")) {
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: typeof Database };
    return new DatabaseSync(path);
  }
  const own = require.resolve("better-sqlite3/build/Release/better_sqlite3.node");
  if (!existsSync(nativeBinding)) copyFileSync(own, nativeBinding);
  const Driver = require("better-sqlite3") as typeof Database;
  return new Driver(path, { nativeBinding });
}
