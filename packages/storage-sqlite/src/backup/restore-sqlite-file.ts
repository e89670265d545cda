import { chmod, chown, link, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemClock } from "@petstore/core/internal";
import { ResultAsync } from "neverthrow";
import { exists, filesBeside, filesOf, inodeOf, isFile } from "../database/database-files.js";
import { isFileOfDatabase, statAt, targetOf } from "../database/database-files.js";
import { openWithOwnLog } from "../database/database-mark.js";
import { loadDriver, type DatabaseConstructor } from "../database/driver.js";
import { migrations } from "../migrations/migrate.js";
import type { MigrationsTable } from "../migrations/migration.js";
import { backupError, BackupRefusal, type BackupError } from "./backup-error.js";
import { backUp, giveFreeName, refuseOtherThanFile, refuseUnfit } from "./backup-sqlite-file.js";
import { sync } from "./backup-sqlite-file.js";
import { lockDatabase } from "./lock-database.js";

export interface RestoreOptions {
  /** The backup, or any other database of a store. It stays as it is. */
  readonly backup: string;
  /** The database file to replace; it need not exist, but its folder must. */
  readonly filename: string;
  /** Aborts the restore until the file is replaced. An aborted restore leaves no files behind. None by default. */
  readonly signal?: AbortSignal | undefined;
}

export interface Restored {
  /** The size of the file. */
  readonly bytes: number;
  /** The path of the old database; `undefined` if there was none. */
  readonly previous: string | undefined;
}

/**
 * Replaces a database with a copy of a backup. Refuses if any connection has the database open, and if
 * the backup is damaged or newer than this package. The old database stays beside the new one, with the
 * time at the end of its name. The database is never missing or incomplete meanwhile, and cannot be
 * opened. The check of the backup blocks the event loop.
 * @example
 * const restored = await restoreSqliteFile({ backup: "monday.db", filename: "pets.db" });
 */
export function restoreSqliteFile(options: RestoreOptions): ResultAsync<Restored, BackupError> {
  return ResultAsync.fromPromise(restore(options), backupError);
}

async function restore({ filename, signal, ...options }: RestoreOptions): Promise<Restored> {
  const backup = resolve(options.backup);
  // SQLite keeps the log beside the file that a link names.
  const file = targetOf(resolve(filename));
  if (!isFile(backup)) throw new BackupRefusal("no_database", "The backup does not exist.");
  refuseOtherThanFile(file);
  if (filesOf(file).some((each) => isFileOfDatabase(backup, each))) {
    throw new BackupRefusal("destination_is_database", "The backup is the database itself.");
  }
  const { Database } = await loadDriver();
  refuseUnusable(Database, backup);
  const lock = lockDatabase(Database, file);
  const suffix = new Date(systemClock.now()).toISOString().replaceAll(":", "-");
  const copy = `${file}.restored-${suffix}`;
  try {
    const old = statAt(file);
    const atMost = old && Number(old.mode);
    const { bytes } = await backUp({ filename: backup, to: copy, check: false, signal, atMost });
    // Without a file, there was no lock: a server may have created its database meanwhile.
    if (inodeOf(statAt(file)) !== inodeOf(old)) throw new BackupRefusal("destination_in_use");
    const previous = `${file}.replaced-${suffix}`;
    await clearBeside(file, lock === undefined ? previous : undefined);
    if (old) await keep(file, previous, copy);
    await (old ? rename(copy, file) : giveFreeName(copy, file));
    await sync(dirname(file));
    return { bytes, previous: old && previous };
  } finally {
    await rm(copy, { force: true });
    lock?.close();
  }
}

/** Throws unless the file is a whole database of a store, of a version that this package knows. */
function refuseUnusable(Database: DatabaseConstructor, backup: string): void {
  const database = openWithOwnLog(Database, backup, { readonly: true });
  try {
    refuseUnfit(database, "The backup is damaged, or not an SQLite database: use an older one.");
    // Databases of before 1.0 have no column `breaking`.
    const migrated = "select * from petstore_migrations";
    const applied = database.prepare<[], Partial<MigrationsTable>>(migrated).all();
    if (applied.some(({ number = 0, breaking }) => breaking !== 0 && number > migrations.length))
      throw new BackupRefusal("schema_too_new");
  } finally {
    database.close();
  }
}

/**
 * Removes the files beside a database: SQLite would replay a log over the new one. Moves a log that could
 * not be moved into the database to the name `previous`, with its ending.
 */
async function clearBeside(file: string, previous: string | undefined): Promise<void> {
  for (const beside of filesBeside(file)) {
    const isLog = !beside.endsWith("-shm") && exists(beside);
    if (isLog && previous !== undefined) await rename(beside, previous + beside.slice(file.length));
    else await rm(beside, { force: true });
  }
}

/** Gives the old database a second name, and its mode and owner to the copy that replaces it. */
async function keep(file: string, previous: string, copy: string): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  await chmod(copy, mode & 0o777);
  // Only the superuser can change the owner. It has to, or the server could not open its database.
  if (process.getuid?.() === 0) await chown(copy, uid, gid);
  // With a link, the database is never missing. Some file systems have none.
  await link(file, previous).catch(() => rename(file, previous));
}
