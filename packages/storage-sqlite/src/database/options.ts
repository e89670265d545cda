import { checkedOptions } from "@petstore/core/internal";
import * as v from "valibot";
import type { SqliteDatabase } from "./driver.js";

/** Where the storage keeps its data: in a file of its own, or in a host's open database. */
export type SqliteStorageOptions = SqliteFileOptions | SqliteDatabaseOptions;

export interface SqliteFileOptions extends TimeoutOptions {
  /** The file, created if it does not exist, in a folder that does. `:memory:` is lost when the storage is closed. */
  readonly filename: string;
  /** Opens an existing file without writing, such as a backup on a read-only disk: writes fail. `false` by default. */
  readonly readOnly?: boolean | undefined;
  readonly database?: undefined;
}

export interface SqliteDatabaseOptions extends TimeoutOptions {
  /**
   * The host's open better-sqlite3 `Database`. The storage sets WAL mode and `synchronous=FULL`, shares
   * it with the host, and does not close it. Set its own `timeout` to a few milliseconds at most: it
   * blocks the event loop while another process writes.
   */
  readonly database: SqliteDatabase;
  readonly filename?: undefined;
  readonly readOnly?: undefined;
}

interface TimeoutOptions {
  /** How long a call waits for a database that another process has locked, in seconds: 0 to 3,600; 5 by default. */
  readonly timeoutSeconds?: number | undefined;
}

/** The options, checked and complete. The timeout is in milliseconds. */
export type Settings = ReturnType<typeof parseOptions>;

export type SqliteFile = Exclude<Settings["source"], SqliteDatabase>;

/** @throws TypeError that names the option, when one is wrong or unknown. */
export function parseOptions(options: SqliteStorageOptions) {
  const checked = checkedOptions("openSqliteStorage", v.safeParse(optionsSchema, options));
  const { filename, database, readOnly, timeoutSeconds } = checked;
  const source = filename === undefined ? database : { filename, readOnly };
  if (source === undefined) throw new TypeError(`openSqliteStorage: option filename ${PATH}`);
  if (filename !== undefined && database !== undefined) {
    throw new TypeError("openSqliteStorage: option database cannot be given with filename");
  }
  if (readOnly && (filename === undefined || filename === ":memory:")) {
    throw new TypeError("openSqliteStorage: option readOnly must be given together with a file");
  }
  return { source, timeout: timeoutSeconds * 1_000 };
}

const PATH = "must be a non-empty path without a space at its end, as a string";

const TIMEOUT = "must be a number from 0 to 3,600";
const timeoutSchema = v.pipe(v.number(TIMEOUT), v.minValue(0, TIMEOUT), v.maxValue(3_600, TIMEOUT));

const databaseSchema = v.object({
  open: v.boolean(),
  inTransaction: v.boolean(),
  prepare: v.function(),
  exec: v.function(),
  pragma: v.function(),
});

const isDatabase = (value: unknown): boolean => v.is(databaseSchema, value);

const optionsSchema = v.pipe(
  v.custom((options) => !Array.isArray(options)),
  v.strictObject(
    {
      filename: v.optional(v.pipe(v.string(PATH), v.check(isPath, PATH))),
      database: v.optional(
        v.custom<SqliteDatabase>(isDatabase, "must be a better-sqlite3 Database"),
      ),
      readOnly: v.optional(v.boolean("must be a boolean"), false),
      timeoutSeconds: v.optional(timeoutSchema, 5),
    },
    "is unknown",
  ),
);

function isPath(value: string): boolean {
  // better-sqlite3 would cut the space off, and open another file.
  return value !== "" && value === value.trimEnd() && !value.includes("\0");
}
