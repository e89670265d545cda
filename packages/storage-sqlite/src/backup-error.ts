import { isBusy, sqliteCode } from "./failure.js";

/** Why there is no backup; closed on `code`. Nothing is left of it. */
export interface BackupError {
  readonly code: BackupErrorCode;
  /** One sentence for the person who wanted it. */
  readonly message: string;
  /** The underlying error, if any. */
  readonly cause: unknown;
}

/** The kinds of `BackupError`. */
export type BackupErrorCode =
  /** There is no database file of this name, or it may not be read. */
  | "no_database"
  /** The file is something else than an SQLite database, or a damaged one. */
  | "damaged"
  /** Another connection has the database for itself. */
  | "busy"
  /** The file to make is there already, or one that SQLite would take for a part of it. */
  | "destination_exists"
  /** The file to replace is a database, and another connection has it open. */
  | "destination_in_use"
  /** The file to make is the database itself, under whatever name, or one that SQLite keeps beside it. */
  | "destination_is_database"
  /** The disk has no room for the backup. */
  | "disk_full"
  /** The file cannot be made: its folder is not there, or may not be written to. */
  | "cannot_write"
  /** Its signal was aborted before the file was there. */
  | "aborted"
  /** Anything else: `message` tells what, and `cause` all of it. */
  | "failed";

/** To be thrown while making a backup. */
export class BackupRefusal extends Error {
  override readonly name = "BackupRefusal";
  constructor(
    readonly code: keyof typeof messages,
    message = messages[code],
  ) {
    super(message);
  }
}

/** What making a backup threw, as the error of this package. */
export function backupError(cause: unknown): BackupError {
  if (cause instanceof BackupRefusal) {
    return { code: cause.code, message: cause.message, cause: undefined };
  }
  const code = codeOf(cause);
  return { code, message: code === "failed" ? describe(cause) : messages[code], cause };
}

/** Whether what SQLite was given is no database, or a damaged one. */
export function isDamaged(cause: unknown): boolean {
  return codeOf(cause) === "damaged";
}

function describe(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = sqliteCode(cause);
  return `The backup failed: ${reason}${code && ` (${code})`}.`;
}

function codeOf(cause: unknown): BackupErrorCode {
  if (isBusy(cause)) return "busy";
  const reason = sqliteCode(cause) || fileCode(cause);
  return byPrefix.find(([prefix]) => reason.startsWith(prefix))?.[1] ?? "failed";
}

function fileCode(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

const byPrefix = [
  ["SQLITE_NOTADB", "damaged"],
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_FULL", "disk_full"],
  ["ENOSPC", "disk_full"],
  ["EDQUOT", "disk_full"],
  ["SQLITE_CANTOPEN", "cannot_write"],
  ["SQLITE_READONLY", "cannot_write"],
  ["EEXIST", "destination_exists"],
  ["EACCES", "cannot_write"],
  ["EISDIR", "cannot_write"],
  ["ENOENT", "cannot_write"],
  ["ENOTDIR", "cannot_write"],
  ["EPERM", "cannot_write"],
  ["EROFS", "cannot_write"],
] as const;

const messages = {
  no_database: "There is no such database, or it may not be read.",
  damaged: "The file is not an SQLite database, or is damaged.",
  busy: "Another connection has the database for itself.",
  destination_exists: "The file to make is there already.",
  destination_in_use: "The file to replace is a database that somebody has open.",
  destination_is_database: "The file to make is the database itself, or one that belongs to it.",
  disk_full: "The disk has no room for the backup.",
  cannot_write: "The file cannot be made: its folder is missing or may not be written to.",
  aborted: "It was stopped.",
} satisfies Readonly<Record<Exclude<BackupErrorCode, "failed">, string>>;
