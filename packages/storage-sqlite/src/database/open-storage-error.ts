import { Refusal } from "@petstore/storage-sql";
import { isBusy, MayBeStored, sqliteCode } from "./errors.js";

/** Why a storage could not be opened; closed on `code`. */
export interface OpenSqliteError {
  readonly code: OpenSqliteErrorCode;
  /** One sentence for the operator. */
  readonly message: string;
  /** The underlying error, if any. */
  readonly cause: unknown;
}

type OpenSqliteErrorCode =
  /** better-sqlite3 is not installed, or its compiled part is missing or built for another Node. */
  | "driver_unavailable"
  /** The folder does not exist, the path is not a file, or the file cannot be read or created. */
  | "cannot_open"
  /** The file is not an SQLite database. */
  | "not_a_database"
  /** The file is a damaged SQLite database. */
  | "damaged"
  /** The file, its folder or the connection is read-only. */
  | "read_only"
  /** The disk has no room for the tables. */
  | "disk_full"
  /** Another connection locked the database for too long. */
  | "busy"
  /** A newer version of this package created the tables. */
  | "schema_too_new"
  /** Tables with these names exist, but another program created or changed them. */
  | "schema_conflict"
  /** SQLite is older than 3.51.3, and can lose commits when several processes write. */
  | "sqlite_too_old"
  /** SQLite cannot use a write-ahead log or `synchronous=FULL` here, so a commit could be lost. */
  | "not_durable"
  /** Any other cause: see `cause`. */
  | "failed";

export class OpenRefusal extends Refusal<OpenSqliteErrorCode> {}

export function openStorageError(cause: unknown): OpenSqliteError {
  if (cause instanceof OpenRefusal) {
    return { code: cause.code, message: cause.message, cause: cause.cause };
  }
  // Only tables can have been stored, and the next opening goes on with them.
  if (cause instanceof MayBeStored) return openStorageError(cause.cause);
  if (isBusy(cause)) return { code: "busy", message: BUSY, cause };
  const code = sqliteCode(cause);
  const known = byPrefix.find(([prefix]) => code.startsWith(prefix));
  if (known) return { code: known[1], message: known[2], cause };
  const reason = cause instanceof Error ? cause.message : String(cause);
  // The system's error of a look at the files.
  if (cause instanceof Error && "syscall" in cause) {
    const message = `The database file cannot be opened: ${reason}.`;
    return { code: "cannot_open", message, cause };
  }
  return { code: "failed", message: `The database could not be opened: ${reason}`, cause };
}

const BUSY = "Another connection locked the database for too long.";

const byPrefix = [
  [
    "SQLITE_CANTOPEN",
    "cannot_open",
    "The database file, or the log beside it, cannot be opened or created.",
  ],
  ["SQLITE_PERM", "cannot_open", "The database file cannot be opened: permission denied."],
  ["SQLITE_AUTH", "cannot_open", "The database file cannot be opened: permission denied."],
  ["SQLITE_NOTADB", "not_a_database", "The file is not an SQLite database."],
  ["SQLITE_CORRUPT", "damaged", "The database file is damaged."],
  ["SQLITE_READONLY", "read_only", "The database is read-only."],
  ["SQLITE_FULL", "disk_full", "The disk has no room for the tables."],
  ["SQLITE_IOERR_SHMSIZE", "disk_full", "The disk has no room for the index of the log."],
  // The statements are correct, so a table is missing or already exists.
  [
    "SQLITE_ERROR",
    "schema_conflict",
    "The database has tables that differ from those of this version.",
  ],
] as const;
