import type { Integers } from "@petstore/storage-sql";
import { OpenRefusal } from "./open-storage-error.js";

/** The part of a pg `Pool` that this package uses: its users do not need the types of pg. A host's `Pool` has this type. */
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

export interface Statement {
  readonly text: string;
  /** If it runs more than once: the server keeps it for the connection. No other text has this name. */
  readonly name?: string | undefined;
}

/** A statement whose rows come as arrays, and whose values are read as `types` says. */
interface PostgresQuery extends Statement {
  readonly values?: unknown[] | undefined;
  readonly rowMode: "array";
  /** Returns the function that reads the text of a value, by the id of its type. */
  readonly types: { getTypeParser(type: number): (text: string) => unknown };
}

/** Loads pg, an optional dependency. Returns a function that opens a pool. @throws OpenRefusal `driver_unavailable` */
export async function loadDriver() {
  const { default: pg } = await import("pg").catch((error: unknown) => {
    const message = "pg cannot be loaded: run `npm install pg`.";
    throw new OpenRefusal("driver_unavailable", message, error);
  });
  /** @param timeout how long connecting may take, in milliseconds. */
  return (connectionString: string, max: number, timeout: number): PostgresPool => {
    const clients = new Set<{ end(): Promise<void> }>();
    class Client extends pg.Client {
      constructor(config?: ConstructorParameters<typeof pg.Client>[0]) {
        super(config);
        clients.add(this.once("end", () => clients.delete(this)));
      }
    }
    const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
    const more = { connectionTimeoutMillis: timeout, application_name: "petstore" };
    const pool = new pg.Pool({ Client, connectionString, max, ...keepAlive, ...more });
    const end = pool.end.bind(pool);
    // pg leaves a client connected, and the process with it, whose login failed at this end, as without a password.
    const endAll = () => end().finally(() => clients.forEach((client) => void client.end()));
    return Object.assign(pool, { end: endAll });
  };
}

/** Returns a query in pg's form. Integers of the type int8 are read as `integers` says. */
export function asQuery(
  { name, text }: Statement,
  values?: unknown[],
  integers: Integers = "number",
): PostgresQuery {
  return { name, text, values, rowMode: "array", types: types[integers] };
}

const types = { number: readingIntegersAs(Number), bigint: readingIntegersAs(BigInt) };

/** Reads a value by the id of its type (`pg_type.oid`), without changing what the host's own queries read. */
function readingIntegersAs(read: (text: string) => unknown): PostgresQuery["types"] {
  const toArray = (text: string): unknown[] =>
    (text.match(/-?\d+|NULL/g) ?? []).map((item) => (item === "NULL" ? null : BigInt(item)));
  const readers = new Map<number, (text: string) => unknown>([
    [16, (text) => text === "t"],
    [20, read],
    [23, Number],
    [1016, toArray],
  ]);
  return { getTypeParser: (type) => readers.get(type) ?? ((text) => text) };
}
