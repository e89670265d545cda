import type { Integers } from "@petstore/storage-sql";
import { ConnectionLost, isConnectionLost, ReadOnly, sqlState } from "./postgres-error.js";
import type {
  PostgresClient,
  PostgresPool,
  PostgresQuery,
  PostgresTypes,
} from "./postgres-pool.js";

/** Runs statements, each on a connection of the pool. Rejects with PostgreSQL's errors or `ConnectionLost`. */
export interface Database {
  query<Row>(statement: Statement, values: unknown[], integers: Integers): Promise<readonly Row[]>;
  /** Runs a script of several statements. If it fails, its connection is closed, and so it is rolled back. */
  run(script: string): Promise<void>;
  /** Closes the storage's own pool; a host's pool stays open. */
  close(): Promise<void>;
}

/** The text of a statement, under a name that no other text has. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Where connections come from. */
export interface PoolSource {
  open(): PostgresPool;
  /** Whether the storage opened the pool, and so may replace it. */
  readonly isOwn: boolean;
}

/** How long one statement may take, connecting included, in milliseconds. */
export const STATEMENT_TIMEOUT = 2_000;

/** Creates the database over a pool, which is opened at once. */
export function createDatabase(source: PoolSource): Database {
  const connections = createConnections(source);
  let keepsStatements = true;

  const query = async <Row>(
    statement: Statement,
    values: unknown[],
    integers: Integers,
  ): Promise<readonly Row[]> => {
    const { text } = statement;
    const named = keepsStatements ? statement : { text };
    try {
      return await connections.use(
        async (client) => (await client.query<Row>(asQuery(named, values, integers))).rows,
      );
    } catch (error) {
      if (named !== statement || !isStatementMissing(error)) throw error;
      // The statement did not run: it was not found, or could not be kept.
      keepsStatements = false;
      return query(statement, values, integers);
    }
  };

  return {
    query,
    run: async (script) => {
      const client = await connections.pool().connect();
      let isDone = false;
      try {
        await client.query(asQuery({ text: script }, undefined, "number"));
        isDone = true;
      } finally {
        client.release(!isDone);
      }
    },
    close: async () => {
      if (source.isOwn) return connections.pool().end();
      connections.pool().off("error", ignore);
      connections.pool().off("connect", ignoreErrors);
    },
  };
}

/** The pool in use, which is replaced when a connection is lost. */
function createConnections(source: PoolSource) {
  const checkOnce = createCheck();
  let pool = openPool();

  function openPool(): PostgresPool {
    const opened = source.open();
    // Without a listener, the error of an idle connection would end the process.
    opened.on("error", source.isOwn ? () => replace(opened) : ignore);
    opened.on("connect", ignoreErrors);
    return opened;
  }

  /** All connections of a pool lead to the same server: when one is dead, the others are suspect. */
  function replace(dead: PostgresPool): void {
    if (!source.isOwn || pool !== dead) return;
    pool = openPool();
    void dead.end().catch(ignore);
  }

  /** Runs work on a connection of the pool, within `STATEMENT_TIMEOUT`. */
  const use = async <T>(work: (client: PostgresClient) => Promise<T>): Promise<T> => {
    const from = pool;
    const late = createTimeout();
    const connecting = from.connect();
    let client: PostgresClient | undefined;
    try {
      client = await Promise.race([connecting, late.expired]);
      client.on("error", ignore);
      const result = await Promise.race([checkOnce(client).then(work), late.expired]);
      release(client, false);
      return result;
    } catch (thrown) {
      const error = sqlState(thrown) === "" ? lost(thrown) : thrown;
      if (client) release(client, isConnectionLost(error));
      else connecting.then((unused) => unused.release(), ignore);
      if (isConnectionLost(error)) replace(from);
      throw error;
    } finally {
      late.clear();
    }
  };

  return { pool: () => pool, use };
}

/** Refuses connections to a standby: it answers reads, but may lack the newest commits. */
function createCheck(): (client: PostgresClient) => Promise<PostgresClient> {
  const checked = new WeakSet<PostgresClient>();
  return async (client) => {
    if (checked.has(client)) return client;
    const { rows } = await client.query<[boolean]>(asQuery(IS_READ_ONLY, [], "number"));
    if (rows[0]?.[0]) throw new ReadOnly();
    checked.add(client);
    return client;
  };
}

/** It is on while the server is a standby. */
const IS_READ_ONLY = { text: "select current_setting('transaction_read_only')::boolean" };

function release(client: PostgresClient, destroy: boolean): void {
  client.release(destroy);
  // A connection that is closed may still report an error.
  if (!destroy) client.off("error", ignore);
}

/** PgBouncer before 1.21 may run a statement on another connection than the one that keeps it. */
function isStatementMissing(error: unknown): boolean {
  return ["26000", "42P05", "08P01"].includes(sqlState(error));
}

function asQuery(
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

/** Rejects after `STATEMENT_TIMEOUT`: a network that is silently dead would let a query wait for minutes. */
function createTimeout() {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const timedOut = (): void => reject(new ConnectionLost("no answer in time"));
    timer = setTimeout(timedOut, STATEMENT_TIMEOUT);
  });
  expired.catch(ignore);
  return { expired, clear: () => clearTimeout(timer) };
}

function lost(error: unknown): ConnectionLost {
  if (error instanceof ConnectionLost) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new ConnectionLost(code || "it was closed", { cause: error });
}

/** A new connection may end before its promise has resolved. */
function ignoreErrors(client: PostgresClient): void {
  client.on("error", ignore);
}

function ignore(): void {
  // The statement that uses the connection rejects with the same error.
}
