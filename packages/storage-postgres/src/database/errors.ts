import { codeOf } from "@petstore/core/facts";
import { storageError, type StorageError } from "@petstore/core/storage";
import { Contention, NoIdLeft, TooLate } from "@petstore/storage-sql";

/** Thrown when no server responds, or a connection ends: it is unknown whether a statement ran. */
export class ConnectionLost extends Error {}

/** Thrown when a statement has certainly stored nothing, and may be tried again. */
export class NotWritten extends Error {}

/** Thrown when too many statements like this one were given up, but still run on the server. Nothing was sent. */
export class StillRunning extends Error {}

/** Thrown when it could not be found out in time whether a write was stored. */
export class OutcomeUnknown extends Error {}

/** Returns the SQLSTATE of an error of PostgreSQL; an empty string for any other error. */
export function sqlState(error: unknown): string {
  const code = codeOf(error);
  return /^(?!E[A-Z]+$)[0-9A-Z]{5}$/.test(code) ? code : "";
}

/**
 * Whether the connection is useless now, or leads to the wrong server. Of a write it is then unknown
 * whether it was stored. 25006: the server became a standby, where a write fails. A pooler sends fatal errors of its own,
 * under various codes; those of a login (28, 3D, 53) come before any statement. A panic may come after the commit.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  const code = sqlState(error);
  const severity = severityOf(error);
  const isFatal = severity === "FATAL" && !/^(?:28|3D|53)/.test(code);
  return /^(?:08|57P0|25006|40003)/.test(code) || severity === "PANIC" || isFatal;
}

/** In the language of the server's `lc_messages`: pg passes on no other. */
function severityOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? String(error.severity) : "";
}

/**
 * Whether a write that ended with this error may have been stored. The errors of these classes come from PostgreSQL,
 * before the commit; any other may be a pooler's own, which has lost its server after the commit. A severity in another
 * language may be a panic.
 */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof StillRunning || error instanceof NotWritten) return false;
  const isRefusal = /^(?:22|23|26|28|3D|3F|40001|40P01|42|53|54|55P03|57014)/.test(sqlState(error));
  const isNoPanic = ["ERROR", "FATAL"].includes(severityOf(error));
  return isConnectionLost(error) || !isRefusal || !isNoPanic;
}

/** Whether a retry may succeed soon, and nothing was stored. */
export function isBusy(error: unknown): boolean {
  if (error instanceof Contention || error instanceof NotWritten) return true;
  // Serialization failure, deadlock, lock timeout, statement timeout, no connection left.
  const isTransient = /^(?:40001|40P01|55P03|57014|53300)/.test(sqlState(error));
  return isTransient || isConnectionLost(error);
}

export const isCausedByCall = (error: unknown): boolean => /^(?:22|23|54)/.test(sqlState(error));

/** Returns the failure of a call, named as in "Adding a pet". No value that was stored or searched for is in it. */
export function toFailure(name: string, error: unknown): StorageError {
  const reason = reasonFor(error);
  const mayBeStored =
    error instanceof OutcomeUnknown || (error instanceof TooLate && error.mayBeStored);
  const failure = storageError(`${name} failed${reason && `: ${reason}`}.`, causeOf(error));
  return { ...failure, mayBeStored };
}

/**
 * Returns an error for the host's log. PostgreSQL's own has values of rows: in `detail`, `where` and
 * `internalQuery`, and in the message of a data exception (class 22).
 */
export function causeOf(error: unknown): unknown {
  const code = sqlState(error);
  if (code === "" || !(error instanceof Error)) return error;
  const message = code.startsWith("22") ? "PostgreSQL refused a value" : error.message;
  return Object.assign(new Error(message), { code });
}

function reasonFor(error: unknown): string {
  if (error instanceof ConnectionLost) return `the connection was lost (${error.message})`;
  if (error instanceof Error && ours.some((each) => error instanceof each)) return error.message;
  const code = sqlState(error);
  if (code === "") return "";
  const known = reasons.find(([prefix]) => code.startsWith(prefix));
  return `${known?.[1] ?? "PostgreSQL refused it"} (${code})`;
}

const ours = [Contention, NotWritten, StillRunning, OutcomeUnknown, TooLate, NoIdLeft];

const reasons = [
  ["08", "the connection was lost"],
  ["57P", "the server is shutting down or starting"],
  ["25006", "the server is a standby, or read-only"],
  ["28", "the server refuses this user or password"],
  ["3D", "the server has no database with this name"],
  ["42501", "the user lacks a right"],
  ["42", "the tables differ from those of this version"],
  ["40", "other transactions were in the way"],
  ["55P03", "another transaction holds a lock for too long"],
  ["57014", "the server stopped the statement"],
  ["53100", "the server's disk is full"],
  ["53300", "the server has no connection left"],
  ["53", "the server is out of resources"],
  ["23", "a rule of the schema forbids it"],
  ["22", "a value cannot be stored"],
] as const;
