import type { Integers } from "@petstore/storage-sql";
import type Driver from "pg";
import { OpenRefusal } from "./open-storage-error.js";

/**
 * The part of a pg `Pool` that this package uses. Its users therefore do not need the types of pg; a
 * host's own `Pool` has this type.
 */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "connect", listener: (client: PostgresClient) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  off(event: "connect", listener: (client: PostgresClient) => void): unknown;
}

export interface PostgresClient {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- As in pg: the caller knows what its query selects.
  query<Row>(query: PostgresQuery): Promise<{ readonly rows: Row[] }>;
  /** Returns the connection to the pool; with `true`, closes it. */
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** A query whose rows come as arrays, and whose values are read as `types` says. */
interface PostgresQuery {
  readonly text: string;
  /** With a name, the server keeps the parsed statement for the connection. */
  readonly name?: string | undefined;
  readonly values?: unknown[] | undefined;
  readonly rowMode: "array";
  readonly types: PostgresTypes;
}

/** Returns the function that reads the text of a value, by the id of its type. */
interface PostgresTypes {
  getTypeParser(type: number): (text: string) => unknown;
}

export interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  /** How long connecting may take, in milliseconds. */
  readonly timeout: number;
}

/**
 * Loads pg, an optional dependency, and returns a function that creates a pool.
 * @throws OpenRefusal `driver_unavailable`
 */
export async function loadDriver(): Promise<(settings: PoolSettings) => PostgresPool> {
  const { default: pg } = await importDriver();
  return ({ url, connections, timeout }) =>
    new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER,
      application_name: "petstore",
    });
}

const KEEP_ALIVE_AFTER = 10_000;

async function importDriver(): Promise<{ readonly default: typeof Driver }> {
  try {
    return await import("pg");
  } catch (error) {
    throw new OpenRefusal(
      "driver_unavailable",
      "pg cannot be loaded: run `npm install pg`.",
      error,
    );
  }
}

/** Returns a query in pg's form. Integers of the type int8 are read as `integers` says. */
export function asQuery(
  { name, text }: { readonly text: string; readonly name?: string },
  values: unknown[] | undefined,
  integers: Integers,
): PostgresQuery {
  const types = integers === "bigint" ? asBigints : asNumbers;
  return { name, text, values, rowMode: "array", types };
}

const asNumbers = readingIntegersAs(Number);
const asBigints = readingIntegersAs(BigInt);

/** Reads a value by the id of its type (`pg_type.oid`), without changing what the host's own queries read. */
function readingIntegersAs(read: (text: string) => unknown): PostgresTypes {
  const toArray = (text: string): unknown[] =>
    text === "{}"
      ? []
      : text
          .slice(1, -1)
          .split(",")
          .map((item) => (item === "NULL" ? null : BigInt(item)));
  const readers = new Map<number, (text: string) => unknown>([
    [16, (text) => text === "t"],
    [20, read],
    [21, Number],
    [23, Number],
    [701, Number],
    [1016, toArray],
  ]);
  return { getTypeParser: (type) => readers.get(type) ?? ((text) => text) };
}
