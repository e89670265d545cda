import { isBusy, sqliteCode } from "./failure.js";

/** Why a storage could not be opened; closed on `code`. */
export interface OpenStorageError {
  readonly code: OpenStorageErrorCode;
  /** One sentence for the person who chose the database. */
  readonly message: string;
  /** The underlying error, if any. */
  readonly cause: unknown;
}

/** The kinds of `OpenStorageError`. */
export type OpenStorageErrorCode =
  /** There is no such folder, it is no file, or it may not be read or created. */
  | "cannot_open"
  /** The file is something else than an SQLite database. */
  | "not_a_database"
  /** The file is an SQLite database, but a damaged one. */
  | "damaged"
  /** The file or the connection only lets itself be read. */
  | "read_only"
  /** The disk has no room for the tables. */
  | "disk_full"
  /** Another connection held the database for too long. */
  | "busy"
  /** The tables are from a newer version of this package. */
  | "schema_too_new"
  /** Tables of these names are there, but are not this package's, or were changed by others. */
  | "schema_conflict"
  /** This SQLite can lose commits when several processes write: older than 3.51.3. */
  | "sqlite_too_old"
  /** SQLite does not grant WAL mode or full synchronisation here, so a commit could be lost. */
  | "not_durable"
  /** Anything else: see `cause`. */
  | "failed";

/** To be thrown while opening. */
export function refuse(code: OpenStorageErrorCode, message: string): Refusal {
  return new Refusal(code, message);
}

class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly reason: OpenStorageErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** What opening threw, as the error of this package. */
export function openStorageError(cause: unknown): OpenStorageError {
  if (cause instanceof Refusal) {
    return { code: cause.reason, message: cause.message, cause: undefined };
  }
  if (isBusy(cause)) return { code: "busy", message: BUSY, cause };
  const code = sqliteCode(cause);
  const known = byPrefix.find(([prefix]) => code.startsWith(prefix));
  if (known) return { code: known[1], message: known[2], cause };
  return { code: "failed", message: "The database could not be opened.", cause };
}

const BUSY = "Another connection held the database for too long.";

const byPrefix = [
  ["SQLITE_CANTOPEN", "cannot_open", "The database file cannot be opened or created."],
  ["SQLITE_PERM", "cannot_open", "The database file may not be opened."],
  ["SQLITE_AUTH", "cannot_open", "The database file may not be opened."],
  ["SQLITE_NOTADB", "not_a_database", "The file is not an SQLite database."],
  ["SQLITE_CORRUPT", "damaged", "The database file is damaged."],
  ["SQLITE_READONLY", "read_only", "The database is read-only."],
  ["SQLITE_FULL", "disk_full", "The disk has no room for the tables."],
  // The statements are right, so what they name is not there, or is there already.
  [
    "SQLITE_ERROR",
    "schema_conflict",
    "The database has tables that are not as this version made them.",
  ],
] as const;
