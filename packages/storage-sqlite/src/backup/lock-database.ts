import { linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { exists } from "../database/database-files.js";
import { openWithOwnLog, refuseForeign } from "../database/database-mark.js";
import type { DatabaseConstructor } from "../database/driver.js";
import { isBusy } from "../database/errors.js";
import { BackupRefusal, isDamaged } from "./backup-error.js";

/**
 * Locks a database, so that no other connection can open it, and moves its log into it. Returns `undefined` if the
 * file does not exist, or if it is too damaged to be opened and no process uses it.
 * @throws BackupRefusal `destination_in_use`: an open connection to a database with a write-ahead log holds a shared
 * lock all the time; without a log, only while it reads or writes
 */
export function lockDatabase(
  Database: DatabaseConstructor,
  file: string,
): BetterSqlite3.Database | undefined {
  refuseForeign(file);
  if (!exists(file)) return undefined;
  let database: BetterSqlite3.Database | undefined;
  try {
    database = openWithOwnLog(Database, file, { timeout: 0 });
    database.pragma("locking_mode = exclusive");
    database.exec("begin exclusive; commit");
    database.pragma("journal_mode = delete");
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) throw new BackupRefusal("destination_in_use");
    if (!isDamaged(error)) throw error;
  }
  refuseLocked(Database, file);
  return undefined;
}

/**
 * Refuses a damaged file that a connection has locked. SQLite reads the header before it takes an exclusive lock,
 * unless a journal is beside the file: then it locks the file first, to roll the journal back. So this gives the file
 * another name, with a journal that holds nothing to roll back (https://sqlite.org/fileformat.html, section 3).
 */
function refuseLocked(Database: DatabaseConstructor, file: string): void {
  const folder = mkdtempSync(`${file}.look-`);
  const link = join(folder, "database");
  try {
    try {
      linkSync(file, link);
    } catch {
      const message =
        "The file to replace is damaged, and may be in use: stop the servers on it, and move it and the files beside it away.";
      throw new BackupRefusal("destination_in_use", message);
    }
    writeFileSync(`${link}-journal`, "nothing to roll back");
    const database = new Database(link, { timeout: 0 });
    try {
      database.prepare("select 1 from sqlite_schema").get();
    } finally {
      database.close();
    }
  } catch (error) {
    if (isBusy(error)) throw new BackupRefusal("destination_in_use");
    if (!isDamaged(error)) throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
