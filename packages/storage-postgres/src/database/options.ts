import { checkedOptions } from "@petstore/core/internal";
import * as v from "valibot";
import type { PostgresPool } from "./driver.js";

/** Where the storage keeps its data: in a database that it connects to, or over a host's pool. */
export type PostgresStorageOptions = PostgresUrlOptions | PostgresPoolOptions;

export interface PostgresUrlOptions extends SchemaOptions {
  /** Such as `postgres://user:password@host/database?sslmode=verify-full`. */
  readonly url: string;
  /** How many connections to open at most: from 1 to 100; 4 by default. */
  readonly connections?: number | undefined;
  readonly pool?: undefined;
}

export interface PostgresPoolOptions extends SchemaOptions {
  /** The host's pg `Pool`. The storage does not close it. */
  readonly pool: PostgresPool;
  readonly url?: undefined;
  readonly connections?: undefined;
}

interface SchemaOptions {
  /** The schema for the tables: lower-case letters, digits and `_`. `petstore` by default. */
  readonly schema?: string | undefined;
  /**
   * Whether a charge is only acknowledged when it survives a crash of the PostgreSQL server. `false` by
   * default: then a crash may lose the charges of the last 0.6 seconds. Pets and keys always survive it.
   */
  readonly durableUsage?: boolean | undefined;
  /**
   * How long a call waits for the database, in seconds: from 1 to 3,600; 5 by default. A statement may take, and a call
   * is retried for, two fifths of it, but at least 2 seconds; the rest is for finding out what became of a lost write.
   * An import has 65 seconds.
   */
  readonly timeoutSeconds?: number | undefined;
}

/** The options, checked and complete. Times are in milliseconds. */
export type Settings = ReturnType<typeof parseOptions>;

/** @throws TypeError that names the option, when one is wrong or unknown. It never shows the URL. */
export function parseOptions(options: PostgresStorageOptions) {
  const checked = checkedOptions("openPostgresStorage", v.safeParse(optionsSchema, options));
  const { url, connections, pool, schema, durableUsage, timeoutSeconds } = checked;
  if (url !== undefined && pool !== undefined) {
    throw new TypeError("openPostgresStorage: option pool cannot be given together with url");
  }
  if (pool !== undefined && connections !== undefined) {
    throw new TypeError("openPostgresStorage: option connections must be given together with url");
  }
  const source = url === undefined ? pool : { url, connections: connections ?? 4 };
  if (source === undefined) throw new TypeError(`openPostgresStorage: option url ${URL_RULE}`);
  /** When a call fails at the latest. */
  const callTimeout = timeoutSeconds * 1_000;
  /** How long a statement may take, and a call is retried. */
  const timeout = Math.max(2_000, callTimeout * 0.4);
  return { source, schema, durableUsage, callTimeout, timeout };
}

const URL_RULE =
  "must be a URL that starts with postgres:// or postgresql://; in a password, # / ? @ must be percent-encoded";

/** Matches names that need no quotes and are short enough for PostgreSQL. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const SCHEMA_RULE = "must be lower-case letters, digits and _, at most 63, with no digit first";
export const DEFAULT_SCHEMA = "petstore";

const CONNECTIONS = "must be an integer from 1 to 100";

const between = (least: number, most: number, rule: string) =>
  v.pipe(v.number(rule), v.minValue(least, rule), v.maxValue(most, rule));

const methods = { connect: v.function(), end: v.function(), on: v.function(), off: v.function() };
const poolSchema = v.object(methods);

const optionsSchema = v.strictObject(
  {
    url: v.optional(v.pipe(v.string(URL_RULE), v.check(isPostgresUrl, URL_RULE))),
    connections: v.optional(v.pipe(between(1, 100, CONNECTIONS), v.integer(CONNECTIONS))),
    pool: v.optional(v.custom<PostgresPool>((pool) => v.is(poolSchema, pool), "must be a pg Pool")),
    schema: v.optional(v.pipe(v.string(), v.regex(SCHEMA, SCHEMA_RULE)), DEFAULT_SCHEMA),
    durableUsage: v.optional(v.boolean("must be a boolean"), false),
    timeoutSeconds: v.optional(between(1, 3_600, "must be a number from 1 to 3,600"), 5),
  },
  "is unknown",
);

/**
 * Whether this is the URL of a PostgreSQL database. One is refused if a bare `#`, `/` or `?` cuts its password, or if
 * another sign than `?` or `&` comes before `password=`: the password would be part of a name that messages show.
 */
export function isPostgresUrl(value: string): boolean {
  if (!/^postgres(?:ql)?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, host, pathname, search, hash } = new URL(value);
  const [firstName = ""] = search.split("=");
  const isCut = hash !== "" || `${pathname}${firstName}`.includes("@");
  const isMisplaced = /password(?:=|%3d)/i.test(username + host + pathname);
  return !isCut && !isMisplaced && !/[^?&\w]password=/i.test(search);
}
