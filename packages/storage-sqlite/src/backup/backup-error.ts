import { OpenRefusal, type OpenSqliteError } from "../database/open-storage-error.js";
import { codeOf, isBusy, sqliteCode } from "../database/errors.js";

/** Why a backup or a restore failed; closed on `code`. It has changed nothing and left no files behind. */
export interface BackupError extends Pick<OpenSqliteError, "message" | "cause"> {
  readonly code: BackupErrorCode;
}

export type BackupErrorCode =
  /** The database file does not exist or cannot be read. */
  | "no_database"
  /** The database, or the backup to restore, is damaged or not an SQLite database. */
  | "damaged"
  /** Another connection has locked the whole database. */
  | "busy"
  /** The destination exists, or a file beside it that SQLite would treat as part of the backup. */
  | "destination_exists"
  /** The file to replace is a database that another connection has open, or may have if it is damaged. */
  | "destination_in_use"
  /** The destination is the database itself, under any name, or a file that SQLite keeps beside it. */
  | "destination_is_database"
  /** The disk has no room for the backup. */
  | "disk_full"
  /** The destination cannot be written: its folder does not exist, or is not writable. */
  | "cannot_write"
  /** The backup to restore is a database, but not one of a store. */
  | "not_a_store"
  /** A newer version of this package wrote the backup to restore. */
  | "schema_too_new"
  /** The signal was aborted before the backup or the restore was complete. */
  | "aborted"
  /** Any other cause: see `message` and `cause`. */
  | "failed";

type KnownCode = Exclude<BackupErrorCode, "failed">;

export class BackupRefusal extends Error {
  constructor(
    readonly code: KnownCode,
    message = messages[code],
  ) {
    super(message);
  }
}

export function backupError(cause: unknown): BackupError {
  if (cause instanceof BackupRefusal) {
    return { code: cause.code, message: cause.message, cause: undefined };
  }
  // The driver cannot be loaded, or a log is that of another database.
  if (cause instanceof OpenRefusal) {
    return { code: "failed", message: cause.message, cause: cause.cause };
  }
  const code = backupCodeOf(cause);
  if (code !== "failed") return { code, message: messages[code], cause };
  const reason = cause instanceof Error ? cause.message : String(cause);
  const known = sqliteCode(cause) && ` (${sqliteCode(cause)})`;
  return { code, message: `The backup failed: ${reason}${known}.`, cause };
}

/** Whether the error says that a file is not a database, or is damaged. */
export function isDamaged(cause: unknown): boolean {
  return backupCodeOf(cause) === "damaged";
}

function backupCodeOf(cause: unknown): BackupErrorCode {
  if (isBusy(cause)) return "busy";
  const reason = codeOf(cause);
  return byCode.find(([, reasons]) => reasons.test(reason))?.[0] ?? "failed";
}

const byCode = [
  ["damaged", /^SQLITE_(?:NOTADB|CORRUPT)/],
  ["disk_full", /^(?:SQLITE_(?:FULL|IOERR_SHMSIZE)|ENOSPC|EDQUOT)/],
  ["destination_exists", /^EEXIST/],
  ["cannot_write", /^(?:SQLITE_(?:CANTOPEN|READONLY|IOERR_LOCK)|E(?:ACCES|.*DIR|NOENT|PERM|ROFS))/],
] as const;

const messages = {
  no_database: "The database does not exist or cannot be read.",
  damaged: "The database is damaged, or not an SQLite database: restore the last backup.",
  busy: "Another connection has locked the database.",
  destination_exists: "The destination already exists.",
  destination_in_use: "The database is in use: stop the servers and other commands on it first.",
  destination_is_database: "The destination is the database itself, or a file that belongs to it.",
  disk_full: "The disk has no room for the backup.",
  cannot_write: "The file cannot be created: its folder is missing or not writable.",
  not_a_store: "The database is not one of a pet store.",
  schema_too_new: "A newer version of @petstore/storage-sqlite wrote the backup.",
  aborted: "The backup was stopped.",
} satisfies Readonly<Record<KnownCode, string>>;
