import { codeOf } from "@petstore/core/facts";
import { ErrorWithCode } from "@petstore/storage-sql";
import { OpenRefusal, type OpenSqliteError } from "../database/open-storage-error.js";
import { isBusy, sqliteCode } from "../database/errors.js";

/** Why a backup or a restore failed; closed on `code`. It has changed nothing and left no files behind. */
export interface BackupError extends Pick<OpenSqliteError, "message" | "cause"> {
  /** `failed`: any cause that has no code of its own. */
  readonly code: KnownCode | "failed";
}

type KnownCode = keyof typeof messages;

/** Thrown for a failure with a code, by default with the message of that code. */
export class BackupRefusal extends ErrorWithCode<KnownCode> {
  constructor(code: KnownCode, message: string = messages[code]) {
    super(code, message);
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
export const isDamaged = (cause: unknown): boolean => backupCodeOf(cause) === "damaged";

function backupCodeOf(cause: unknown): BackupError["code"] {
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

/** The codes, each with the message that it has unless more is known. */
const messages = {
  no_database: "The database does not exist or cannot be read.",
  damaged: "The database is damaged, or not an SQLite database: restore the last backup.",
  busy: "Another connection has locked the database.",
  /** Also if a file beside it exists that SQLite would treat as part of the backup. */
  destination_exists: "The destination already exists.",
  /** Also if the file to replace is damaged, so that it cannot be told whether it is in use. */
  destination_in_use: "The database is in use: stop the servers and other commands on it first.",
  destination_is_database: "The destination is the database itself, or a file that belongs to it.",
  disk_full: "The disk has no room for the backup.",
  cannot_write: "A file cannot be read or created: its folder is missing, or this user may not.",
  not_a_store: "The database is not one of a pet store.",
  schema_too_new: "A newer version of @petstore/storage-sqlite wrote the backup.",
  aborted: "The backup was stopped.",
} as const;
