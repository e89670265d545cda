import { codeOf } from "@petstore/core/facts";
import { storageError, type StorageError } from "@petstore/core/storage";
import { NoIdLeft } from "@petstore/storage-sql";

/** Thrown when a host's connection is inside the host's own transaction. */
export class DatabaseInUse extends Error {
  constructor() {
    super("the connection stayed in use");
  }
}

/** Thrown when the file was exchanged while it was opened: the old one may have been opened. */
export class DatabaseExchanged extends Error {}

/** Thrown when a read has ended the transaction of a charge, which has to run again without it. */
export class ReadFailed extends Error {}

/** Thrown by every transaction once a check has failed, with the message of its warning: a log can report it once. */
export class DatabaseUnusable extends Error {}

/** Thrown when a commit failed, and the disk may hold it all the same until the next commit: a crash would store it. */
export class MayBeStored extends Error {
  constructor(override readonly cause: unknown) {
    super("the commit failed, and a crash could store it");
  }
}

/** Whether a retry may succeed once another connection or the host is done. */
export function isBusy(error: unknown): boolean {
  const isOurs = error instanceof DatabaseInUse || error instanceof ReadFailed;
  return isOurs || isIterating(error) || /^SQLITE_(?:BUSY|LOCKED)/.test(sqliteCode(error));
}

/** Whether the host is iterating over rows; better-sqlite3 gives this error no code. */
export function isIterating(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("busy executing a query");
}

export function isCausedByCall(error: unknown): boolean {
  if (error instanceof DatabaseUnusable || error instanceof MayBeStored) return false;
  const code = sqliteCode(error);
  return code === "" || /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);
}

/** Returns the failure of a call, named as in "Adding a pet". No value that was stored or searched for is in it. */
export function toFailure(name: string, error: unknown): StorageError {
  if (error instanceof DatabaseUnusable) return storageError(error.message, error);
  if (error instanceof MayBeStored) return { ...toFailure(name, error.cause), mayBeStored: true };
  const reason = reasonFor(error);
  return storageError(`${name} failed${reason && `: ${reason}`}.`, error);
}

/** Returns the code of an SQLite error, such as `SQLITE_FULL`; an empty string for any other error. */
export function sqliteCode(error: unknown): string {
  const code = codeOf(error);
  return code.startsWith("SQLITE_") ? code : "";
}

function reasonFor(error: unknown): string {
  const code = sqliteCode(error);
  if (code !== "") {
    const known = reasons.find(([pattern]) => pattern.test(code));
    return `${known?.[1] ?? "SQLite refused it"} (${code})`;
  }
  if (isIterating(error)) return new DatabaseInUse().message;
  return error instanceof DatabaseInUse || error instanceof NoIdLeft ? error.message : "";
}

const reasons = [
  [/^SQLITE_(?:BUSY|LOCKED)/, "another connection locked the database for too long"],
  [/^SQLITE_(?:FULL|IOERR_SHMSIZE)/, "the disk is full"],
  [/^SQLITE_READONLY/, "the database is read-only"],
  [/^SQLITE_IOERR/, "reading or writing the file failed"],
  [/^SQLITE_CORRUPT/, "the file is damaged"],
  [/^SQLITE_NOTADB/, "the file is not a database"],
  [/^SQLITE_CANTOPEN/, "a file cannot be opened"],
  [/^SQLITE_CONSTRAINT/, "a rule of the schema forbids it"],
] as const;
