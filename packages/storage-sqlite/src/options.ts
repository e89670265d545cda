import { connectToDatabase, connectToFile, type Connections } from "./connect.js";
import type { SqliteDatabase } from "./sqlite-database.js";

/** Where to keep everything: in a file of its own, or in a host's open database. */
export type SqliteStorageOptions = SqliteFileOptions | SqliteDatabaseOptions;

export interface SqliteFileOptions extends WaitingOptions {
  /** The database file, created when it is missing; its folder must be there. `:memory:` for none. */
  readonly filename: string;
  readonly database?: undefined;
}

export interface SqliteDatabaseOptions extends WaitingOptions {
  /**
   * An open better-sqlite3 `Database` of the host's. It is put into WAL mode and set to
   * `synchronous=FULL`, shared with the host, and left open. Its own `timeout` blocks the event loop
   * when another process writes: make it a few milliseconds.
   */
  readonly database: SqliteDatabase;
  readonly filename?: undefined;
}

interface WaitingOptions {
  /** How long a call waits for another process to let go of the database, from 0 to 3,600; 5 when left out. */
  readonly lockTimeoutSeconds?: number | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  /** Opens what they name. Throws what is wrong with it. */
  readonly connect: () => Connections;
  /** How long a call waits for another process, in milliseconds. */
  readonly deadline: number;
}

/**
 * Checks the options and completes them. Callers may be JavaScript: nothing is believed or coerced.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseOptions(options: SqliteStorageOptions): Settings {
  mustBeKnown(options);
  const { lockTimeoutSeconds = 5 } = options;
  must(isTimeout(lockTimeoutSeconds), "lockTimeoutSeconds", "must be a number from 0 to 3,600");
  return { connect: connector(options), deadline: lockTimeoutSeconds * 1_000 };
}

function connector({ filename, database }: SqliteStorageOptions): () => Connections {
  if (database === undefined) {
    must(isPath(filename), "filename", "must be a non-empty path, as a string");
    return () => connectToFile(filename);
  }
  must(isLeftOut(filename), "database", "cannot be given together with filename");
  must(isDatabase(database), "database", "must be a better-sqlite3 Database");
  return () => connectToDatabase(database);
}

function mustBeKnown(options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError("openSqliteStorage: the options must be an object");
  }
  for (const name of Object.keys(options)) must(OPTIONS.includes(name), name, "is not known");
}

const OPTIONS: readonly string[] = ["filename", "database", "lockTimeoutSeconds"];

function must(holds: boolean, option: string, rule: string): void {
  if (!holds) throw new TypeError(`openSqliteStorage: option ${option} ${rule}`);
}

function isLeftOut(value: unknown): boolean {
  return value === undefined;
}

function isTimeout(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 3_600;
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && !value.includes("\0");
}

function isDatabase(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const has = (member: keyof SqliteDatabase, type: string): boolean =>
    typeof Reflect.get(value, member) === type;
  const methods = ["prepare", "exec", "pragma"] as const;
  return (
    has("open", "boolean") &&
    has("inTransaction", "boolean") &&
    methods.every((method) => has(method, "function"))
  );
}
