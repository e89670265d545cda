import { storageFailure, type StorageFailure } from "@petstore/core";

/** Thrown when a host's connection is inside a transaction of the host's own. */
export class DatabaseInUse extends Error {
  override readonly name = "DatabaseInUse";
  constructor() {
    super("The connection is inside another transaction.");
  }
}

/** Thrown when the path of a database, or of its log, names another file than the one that is open, or none. */
export class DatabaseMoved extends Error {
  override readonly name = "DatabaseMoved";
  constructor() {
    super("the database file or its log was removed or replaced");
  }
}

/** Whether the same work may succeed once another connection, or the host, is done. */
export function isBusy(error: unknown): boolean {
  if (error instanceof DatabaseInUse) return true;
  // A host is iterating over rows of its own; better-sqlite3 gives this error no code.
  if (error instanceof TypeError) return error.message.includes("busy executing a query");
  return /^SQLITE_(?:BUSY|LOCKED)/.test(sqliteCode(error));
}

/** Whether SQLite has waited before it gave this error, for as long as its timeout says. */
export function hasBlocked(error: unknown): boolean {
  return sqliteCode(error).startsWith("SQLITE_BUSY");
}

/** Whether the call that met this error is to blame for it, and neither the database nor the disk. */
export function isOwnFault(error: unknown): boolean {
  if (error instanceof DatabaseMoved) return false;
  const code = sqliteCode(error);
  return code === "" || /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);
}

/** Tells the host what was tried and why it failed, without any value that was stored or sought. */
export function failureOf(tried: string, error: unknown): StorageFailure {
  if (error instanceof DatabaseMoved)
    return storageFailure(`${tried} failed: ${error.message}.`, error);
  const code = sqliteCode(error);
  const reason = reasons.find(([prefix]) => code.startsWith(prefix))?.[1] ?? "SQLite refused";
  if (code !== "") return storageFailure(`${tried} failed: ${reason} (${code}).`, error);
  const busy = isBusy(error);
  return storageFailure(`${tried} failed${busy ? ": the connection stayed in use" : ""}.`, error);
}

/** SQLite's name for an error, such as `SQLITE_FULL`; empty when the error is not SQLite's. */
export function sqliteCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  const { code } = error;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : "";
}

const reasons = [
  ["SQLITE_BUSY", "another connection held the database for too long"],
  ["SQLITE_LOCKED", "another connection held the database for too long"],
  ["SQLITE_FULL", "the disk is full"],
  ["SQLITE_READONLY", "the database is read-only"],
  ["SQLITE_IOERR", "reading or writing the file failed"],
  ["SQLITE_CORRUPT", "the file is damaged"],
  ["SQLITE_NOTADB", "the file is not a database"],
  ["SQLITE_CANTOPEN", "a file cannot be opened"],
  ["SQLITE_CONSTRAINT", "a rule of the schema forbids it"],
] as const;
