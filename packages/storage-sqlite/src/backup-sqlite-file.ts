import { existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { ResultAsync } from "neverthrow";
import {
  createUnfinished,
  giveFreeName,
  refuseItself,
  refuseToReplace,
  replace,
  sync,
} from "./backup-destination.js";
import { backupError, BackupRefusal, type BackupError } from "./backup-error.js";
import { filesOf } from "./database-files.js";
import { Database } from "./driver.js";
import { whileBusy } from "./while-busy.js";

/** What to copy where. */
export interface BackupOptions {
  /** The database file; it may be in use by any number of processes. */
  readonly filename: string;
  /** The file to make; its folder must be there. */
  readonly to: string;
  /** Whether a file that is already there may be replaced; `false` when left out. */
  readonly overwrite?: boolean | undefined;
  /** Stops the backup when it is aborted, unless the file is there already: nothing is left of it then. */
  readonly signal?: AbortSignal | undefined;
}

/** A backup that was made. */
export interface Backup {
  /** How long the file is, in bytes. */
  readonly bytes: number;
}

/** How long to wait for another connection that has the database for itself, in milliseconds. */
const LOCK_TIMEOUT = 5_000;

/** 4 MiB of pages of 4 KiB: the event loop gets its turn in between. */
const PAGES_PER_TURN = 1_024;

/**
 * Copies a database, while it is in use, into one file that holds all that was committed before this was
 * called, and perhaps nothing later. Writers and readers go on; only the write-ahead log is not emptied
 * meanwhile. The file appears under its name when it is whole and on the disk, or not at all.
 * @example
 * const backup = await backupSqliteFile({ filename: "pets.db", to: "pets.backup.db" });
 */
export function backupSqliteFile(options: BackupOptions): ResultAsync<Backup, BackupError> {
  return ResultAsync.fromPromise(backUp({ ...options, to: resolve(options.to) }), backupError);
}

async function backUp({ filename, to, overwrite = false, signal }: BackupOptions): Promise<Backup> {
  if (!existsSync(filename)) throw new BackupRefusal("no_database");
  if (!existsSync(dirname(to))) throw new BackupRefusal("cannot_write");
  refuseItself(filename, to);
  if (!overwrite) refuseToReplace(to);
  const unfinished = await createUnfinished(to);
  try {
    await copy(filename, unfinished, signal);
    makeSelfContained(unfinished);
    await sync(unfinished);
    const { size } = await stat(unfinished);
    refuseAborted(signal);
    if (!overwrite) refuseToReplace(to);
    await (overwrite ? replace(unfinished, to) : giveFreeName(unfinished, to));
    await sync(dirname(to));
    return { bytes: size };
  } catch (error) {
    for (const file of filesOf(unfinished)) await rm(file, { force: true });
    throw error;
  }
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new BackupRefusal("aborted");
}

async function copy(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const source = await whileBusy(LOCK_TIMEOUT, () => {
    refuseAborted(signal);
    return openSource(from);
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

function openSource(filename: string): BetterSqlite3.Database {
  const source = connect(filename);
  try {
    // One moment of the database for all turns: without it, every commit meanwhile starts it anew.
    source.exec("begin");
    source.prepare("select count(*) from sqlite_schema").get();
    return source;
  } catch (error) {
    source.close();
    throw error;
  }
}

function connect(filename: string): BetterSqlite3.Database {
  try {
    return new Database(filename, { readonly: true, fileMustExist: true, timeout: 0 });
  } catch {
    throw new BackupRefusal("no_database");
  }
}

/** A copy of a database with a write-ahead log expects one too: not from a folder that is read-only. */
function makeSelfContained(filename: string): void {
  const database = new Database(filename, { fileMustExist: true });
  try {
    database.pragma("journal_mode = delete");
  } finally {
    database.close();
  }
}
