import { ErrorWithCode } from "@petstore/storage-sql";
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
  | keyof typeof messages
  /** better-sqlite3 is not installed, or its compiled part is missing or built for another Node. */
  | "driver_unavailable"
  /** A newer version of this package created the tables. */
  | "schema_too_new"
  /** SQLite is older than 3.51.3, and can lose commits when several processes write. */
  | "sqlite_too_old"
  /** SQLite cannot use a write-ahead log or `synchronous=FULL` here, so a commit could be lost. */
  | "not_durable"
  /** Any other cause: see `cause`. */
  | "failed";

export class OpenRefusal extends ErrorWithCode<OpenSqliteErrorCode> {}

export function openStorageError(cause: unknown): OpenSqliteError {
  if (cause instanceof OpenRefusal) {
    return { code: cause.code, message: cause.message, cause: cause.cause };
  }
  // Only tables can have been stored, and the next opening continues with them.
  if (cause instanceof MayBeStored) return openStorageError(cause.cause);
  if (isBusy(cause)) return { code: "busy", message: messages.busy, cause };
  const known = byPrefix.find(([prefix]) => sqliteCode(cause).startsWith(prefix));
  if (known) {
    const [, code, message = messages[code]] = known;
    return { code, message, cause };
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  // The system's error of a look at the files.
  if (cause instanceof Error && "syscall" in cause) {
    const message = `The database file cannot be opened: ${reason}.`;
    return { code: "cannot_open", message, cause };
  }
  return { code: "failed", message: `The database could not be opened: ${reason}`, cause };
}

/** The codes that an error of SQLite can have, each with the message that it has unless more is known. */
const messages = {
  busy: "Another connection locked the database for too long.",
  /** Also if its folder does not exist, or the path is not that of a file. */
  cannot_open: "The database file, or the log beside it, cannot be opened or created.",
  not_a_database: "The file is not an SQLite database.",
  damaged: "The database file is damaged.",
  read_only: "The database is read-only.",
  disk_full: "The disk has no room for the tables.",
  // The statements are correct, so a table is missing or already exists.
  schema_conflict: "The database has tables that differ from those of this version.",
} as const;

const byPrefix: readonly (readonly [string, keyof typeof messages, message?: string])[] = [
  ["SQLITE_CANTOPEN", "cannot_open"],
  ["SQLITE_PERM", "cannot_open", "The database file cannot be opened: permission denied."],
  ["SQLITE_NOTADB", "not_a_database"],
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_READONLY", "read_only"],
  ["SQLITE_FULL", "disk_full"],
  ["SQLITE_IOERR_SHMSIZE", "disk_full", "The disk has no room for the index of the log."],
  ["SQLITE_ERROR", "schema_conflict"],
];
