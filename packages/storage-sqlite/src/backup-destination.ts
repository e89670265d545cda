import { existsSync, statSync } from "node:fs";
import { link, open, rename, rm, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { systemRandom } from "@petstore/core";
import { BackupRefusal, isDamaged } from "./backup-error.js";
import { filesOf, isFileOfDatabase, leftoversOf } from "./database-files.js";
import { Database } from "./driver.js";
import { isBusy } from "./failure.js";

/** Throws when a backup would take the place of the database, or either's logs that of the other. */
export function refuseItself(filename: string, to: string): void {
  if (filesOf(to).some((file) => isFileOfDatabase(filename, file))) {
    throw new BackupRefusal("destination_is_database");
  }
}

/** Throws when a file is in the way: SQLite would replay another database's log over the backup. */
export function refuseToReplace(to: string): void {
  if (existsSync(to)) throw new BackupRefusal("destination_exists");
  const leftover = leftoversOf(to).find((file) => existsSync(file));
  if (leftover === undefined) return;
  throw new BackupRefusal(
    "destination_exists",
    `${leftover} is there already: SQLite would take it for a part of the backup.`,
  );
}

/** Makes an empty file beside the one to make, under a name that no other backup has. */
export async function createUnfinished(to: string): Promise<string> {
  const random = Buffer.from(systemRandom(6)).toString("hex");
  const unfinished = `${to}.unfinished-${process.pid}-${random}`;
  // The permissions that SQLite gives.
  await create(unfinished, 0o644);
  return unfinished;
}

/**
 * Puts a file in the place of another one, without what SQLite has left beside that. Throws when that is
 * a database which another connection has open.
 */
export async function replace(file: string, to: string): Promise<void> {
  if (existsSync(to)) refuseInUse(to);
  // Before the new file has the name: a crash in between leaves it no log of another database.
  for (const leftover of leftoversOf(to)) await rm(leftover, { force: true });
  await sync(dirname(to));
  await rename(file, to);
}

/**
 * Every connection to a database with a log shares a lock on it for as long as it is open, and every
 * other connection for as long as it reads or writes. To ask for that lock alone has SQLite end the log, so
 * that nothing is lost should the file not be replaced after all.
 */
function refuseInUse(file: string): void {
  if (!statSync(file).isFile()) throw new BackupRefusal("cannot_write");
  const database = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    database.pragma("locking_mode = exclusive");
    database.exec("begin exclusive; rollback");
  } catch (error) {
    if (isBusy(error)) throw new BackupRefusal("destination_in_use");
    // What is no database, nobody has open as one.
    if (!isDamaged(error)) throw error;
  } finally {
    database.close();
  }
}

/** Gives a file another name. Throws when that is taken, be it at the last moment. */
export async function giveFreeName(file: string, to: string): Promise<void> {
  const isLinked = await link(file, to).then(
    () => true,
    () => false,
  );
  if (isLinked) return unlink(file);
  // The name is taken, or a disk such as a memory stick knows no links: it is taken here then.
  await create(to);
  try {
    await rename(file, to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/** Has it on the disk, be it a folder with the names in it. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throws when it is there. */
async function create(file: string, mode?: number): Promise<void> {
  await (await open(file, "wx", mode)).close();
}
