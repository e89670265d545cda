import { renameSync, statSync } from "node:fs";
import { link, open, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemRandom } from "@petstore/core/internal";
import { monotonicNow, retryWhileBusy } from "@petstore/storage-sql";
import type BetterSqlite3 from "better-sqlite3";
import { ResultAsync } from "neverthrow";
import { exists, filesBeside, filesOf, isFile } from "../database/database-files.js";
import { isFileOfDatabase } from "../database/database-files.js";
import { openWithOwnLog, setMark } from "../database/database-mark.js";
import { loadDriver, type DatabaseConstructor } from "../database/driver.js";
import { isBusy, sqliteCode } from "../database/errors.js";
import { OpenRefusal } from "../database/open-storage-error.js";
import { backupError, BackupRefusal, isDamaged, type BackupError } from "./backup-error.js";
import { lockDatabase } from "./lock-database.js";

export interface BackupOptions {
  /** The database file. Other processes may use it meanwhile. */
  readonly filename: string;
  /** The file to create; its folder must exist. */
  readonly to: string;
  /** Whether to replace an existing file; `false` by default. */
  readonly overwrite?: boolean | undefined;
  /** Whether to check that the copy is whole (`quick_check`, which blocks the event loop) and of a store; `true` by default. */
  readonly check?: boolean | undefined;
  /** Aborts the backup until it is complete. An aborted backup leaves no files behind. None by default. */
  readonly signal?: AbortSignal | undefined;
}

export interface Backup {
  /** The size of the file. */
  readonly bytes: number;
}

/** How long to wait for another connection that has locked the whole database, in milliseconds. */
const LOCK_TIMEOUT = 5_000;

/** 4 MiB in pages of 4 KiB. The event loop runs between the turns of a backup. */
const PAGES_PER_TURN = 1_024;

/**
 * Copies a database, also while it is in use, into one file. The file holds everything that was
 * committed before this call and may hold later commits. Readers and writers do not wait, but the
 * write-ahead log cannot be checkpointed meanwhile. The file gets its name only when it is complete and
 * synced. It is at most as open to others as the database.
 * @example
 * const backup = await backupSqliteFile({ filename: "pets.db", to: "pets.backup.db" });
 */
export function backupSqliteFile(options: BackupOptions): ResultAsync<Backup, BackupError> {
  return ResultAsync.fromPromise(backUp(options), backupError);
}

/** Does the work of `backupSqliteFile`, and throws its errors. `atMost` limits the mode of the file. */
export async function backUp(options: BackupOptions & { readonly atMost?: number | undefined }) {
  const { overwrite = false, check = true, signal, atMost = 0o777 } = options;
  const [filename, to] = [resolve(options.filename), resolve(options.to)];
  if (!isFile(filename)) throw new BackupRefusal("no_database");
  if (filesOf(to).some((file) => isFileOfDatabase(filename, file))) {
    throw new BackupRefusal("destination_is_database");
  }
  if (!overwrite) refuseExisting(to);
  refuseOtherThanFile(to);
  const { Database } = await loadDriver();
  const random = Buffer.from(systemRandom(6)).toString("hex");
  const unfinished = `${to}.unfinished-${process.pid}-${random}`;
  try {
    await createEmpty(unfinished, statSync(filename).mode & atMost);
    await copy(Database, filename, unfinished, signal);
    finish(Database, unfinished, check);
    await sync(unfinished);
    const { size } = await stat(unfinished);
    refuseAborted(signal);
    await (overwrite ? replace(Database, unfinished, to) : giveFreeName(unfinished, to));
    await sync(dirname(to));
    return { bytes: size };
  } catch (error) {
    for (const file of filesOf(unfinished)) await rm(file, { force: true });
    throw error;
  }
}

export function refuseOtherThanFile(to: string): void {
  if (exists(to) && !isFile(to))
    throw new BackupRefusal("cannot_write", "The destination is a folder, a pipe or a device.");
}

async function copy(
  Database: DatabaseConstructor,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = { timeout: LOCK_TIMEOUT, now: monotonicNow, isBusy };
  const source = await retryWhileBusy(options, () => {
    refuseAborted(signal);
    return openSnapshot(Database, from);
  });
  const progress = (): number => {
    refuseAborted(signal);
    return PAGES_PER_TURN;
  };
  try {
    await source.backup(to, { progress });
  } finally {
    source.close();
  }
}

function openSnapshot(Database: DatabaseConstructor, filename: string): BetterSqlite3.Database {
  let source: BetterSqlite3.Database | undefined;
  try {
    source = openWithOwnLog(Database, filename, { readonly: true, timeout: 0 });
    // Without one snapshot for all turns, each commit meanwhile would restart the copy.
    source.exec("begin");
    source.prepare("select count(*) from sqlite_schema").get();
    return source;
  } catch (error) {
    source?.close();
    if (error instanceof OpenRefusal) throw error;
    // A folder that cannot be written has no room for the index of a log.
    const isUnreadable = /^SQLITE_(?:CANTOPEN|READONLY)/.test(sqliteCode(error));
    throw source === undefined || isUnreadable ? new BackupRefusal("no_database") : error;
  }
}

/** Gives a copy a mark of its own, ends its log, which a read-only folder could not have, and checks it. */
function finish(Database: DatabaseConstructor, filename: string, check: boolean): void {
  const database = new Database(filename);
  try {
    database.pragma("journal_mode = delete");
    // The log of the original must not be taken for that of the copy.
    setMark(database);
    if (check) refuseUnfit(database);
  } finally {
    database.close();
  }
}

/** Refuses a database that is damaged, with this message, or not one of a store, such as an empty file. */
export function refuseUnfit(database: BetterSqlite3.Database, message?: string): void {
  let found: unknown;
  try {
    found = database.pragma("quick_check(1)", { simple: true });
  } catch (error) {
    if (!isDamaged(error)) throw error;
  }
  if (found !== "ok") throw new BackupRefusal("damaged", message);
  const tables = database.prepare("select 1 from sqlite_schema where name = ?");
  if (tables.get("petstore_migrations") === undefined) throw new BackupRefusal("not_a_store");
}

/** Renames a file. Throws when the new name is taken at this moment. */
export async function giveFreeName(file: string, to: string): Promise<void> {
  refuseExisting(to);
  try {
    await link(file, to);
  } catch {
    // The name is taken, or the file system has no links. Then this claims the name.
    await createEmpty(to, 0);
    await rename(file, to);
    return;
  }
  await unlink(file);
}

/** Also refuses the log of another database: SQLite would replay it over the backup. */
function refuseExisting(to: string): void {
  const found = filesOf(to).find((path) => exists(path));
  if (found === undefined) return;
  const besideIt = `${found} already exists; SQLite would treat it as part of the backup.`;
  throw new BackupRefusal("destination_exists", found === to ? undefined : besideIt);
}

/** Replaces a file and removes the files that SQLite left beside it. Throws when it is a database in use. */
async function replace(Database: DatabaseConstructor, file: string, to: string): Promise<void> {
  lockDatabase(Database, to)?.close();
  // Before the rename: the new file must never be beside the log of another database.
  for (const leftover of filesBeside(to)) await rm(leftover, { force: true });
  await sync(dirname(to));
  // A server may have been started since. In one step, so that backups to one name do not refuse each other.
  const lock = lockDatabase(Database, to);
  try {
    renameSync(file, to);
  } finally {
    lock?.close();
  }
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new BackupRefusal("aborted");
}

/** Creates a file that its owner can write, and others at most as this mode says. Throws when it exists. */
async function createEmpty(file: string, mode: number): Promise<void> {
  await (await open(file, "wx", (mode & 0o666) | 0o600)).close();
}

/** Syncs a file, or the names in a folder, to the disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
