import { clearTimeout, setTimeout } from "node:timers";
import { codeOf } from "@petstore/core/facts";
import type { Integers } from "@petstore/storage-sql";
import { asQuery, type PostgresClient, type PostgresPool, type Statement } from "./driver.js";
import { ConnectionLost, isConnectionLost, NotWritten, sqlState, StillRunning } from "./errors.js";

export interface PoolSource {
  readonly open: () => PostgresPool;
  /** Whether the storage opened the pool, and so may replace it. */
  readonly isOwn: boolean;
}

/** Runs statements, each on a connection of the pool. Rejects with PostgreSQL's errors or `ConnectionLost`. */
export type Database = ReturnType<typeof createDatabase>;

/** @param timeout how long one statement may take if nothing else is said, connecting included, in milliseconds. */
export function createDatabase(source: PoolSource, timeout: number) {
  const { use, close } = createConnections(source, timeout);
  return {
    query: createQuery(use, timeout),
    /** Runs a script of several statements, for up to a day. If it fails, its connection is closed: it is rolled back. */
    run: async (text: string): Promise<void> => {
      const runScript = (client: PostgresClient) => client.query(asQuery({ text }));
      await use(runScript, 86_400_000, () => true);
    },
    close,
  };
}

/**
 * Runs work on a connection of the pool, within a time in milliseconds: a network that is silently dead would let a query
 * wait for minutes. `isFatal` says whether a connection is closed after an error.
 */
type Use = <T>(
  work: (client: PostgresClient) => Promise<T>,
  timeout?: number,
  isFatal?: (error: unknown) => boolean,
) => Promise<T>;

function createConnections({ open, isOwn }: PoolSource, longest: number) {
  let pool = openPool(open);
  /** Each ends one wait for a connection of this pool: once it is replaced, it may give none. */
  const waits = new Set<() => void>();

  /** Resolves with `undefined` if the pool is replaced before it gives a connection. */
  async function connect(from: PostgresPool, expired: Promise<never>) {
    const connecting = from.connect();
    let client: PostgresClient | undefined;
    let end = ignore;
    const replaced = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
    waits.add(end);
    try {
      client = await Promise.race([connecting, expired, replaced]);
      return client;
    } finally {
      waits.delete(end);
      if (!client) connecting.then((unused) => unused.release(), ignore);
    }
  }

  const use: Use = async (work, timeout = longest, isFatal = isConnectionLost) => {
    let from = pool;
    let client: PostgresClient | undefined;
    const late = createTimeout(timeout, () =>
      client ? new ConnectionLost("no answer in time") : new NotWritten(NONE_FREE),
    );
    try {
      // A caller would try nothing again that is older than its timeout, such as a change that waited for its turn.
      while (client === undefined) client = await connect((from = pool), late.expired);
      client.on("error", ignore);
      const result = await Promise.race([work(client), late.expired]);
      release(client, false);
      return result;
    } catch (thrown) {
      const error = orLost(thrown);
      if (client) release(client, isFatal(error));
      // All connections of a pool lead to the same server: when one is dead, the others are suspect.
      if (isOwn && pool === from && isConnectionLost(error)) {
        pool = openPool(open);
        void from.end().catch(ignore);
        for (const end of waits) end();
      }
      throw error;
    } finally {
      late.clear();
    }
  };
  const close = async (): Promise<void> => {
    if (isOwn) return pool.end();
    pool.off("error", ignore);
    pool.off("connect", ignoreErrors);
  };
  return { use, close };
}

const NONE_FREE = "the database gave no connection in time";

function openPool(open: PoolSource["open"]): PostgresPool {
  const opened = open();
  // Without a listener, the error of an idle connection would end the process.
  opened.on("error", ignore);
  opened.on("connect", ignoreErrors);
  return opened;
}

/** Creates the function that runs statements under their names, so that the server keeps them, if it can. */
function createQuery(use: Use, longest: number) {
  let areKept = true;
  /** PostgreSQL still runs them: one that waits for a lock or a standby keeps its backend, and a server has few. */
  const givenUp = new Set<string>();

  return async function query<Row>(
    statement: Statement,
    values: unknown[] = [],
    integers?: Integers,
    timeout?: number,
  ): Promise<readonly Row[]> {
    const { text } = statement;
    const named = areKept ? statement : { text };
    if (givenUp.has(text)) {
      const count = await countGivenUp(use, text, longest);
      if (count === 0) givenUp.delete(text);
      if (count >= MOST_GIVEN_UP)
        throw new StillRunning("earlier statements still wait in the database");
    }
    try {
      const sent = asQuery(named, values, integers);
      return (await use((client) => client.query<Row>(sent), timeout)).rows;
    } catch (error) {
      if (isConnectionLost(error)) givenUp.add(text);
      // PgBouncer before 1.21 may run a statement on another connection than the one that keeps it. PostgreSQL then refuses
      // it before it runs: it was not found, or could not be kept. A pooler's own error (08P01) does not say that.
      const isMissing = ["26000", "42P05"].includes(sqlState(error));
      if (named !== statement || !isMissing) throw error;
      areKept = false;
      return query(statement, values, integers, timeout);
    }
  };
}

/** How many statements with the same text may be given up while they still run. */
const MOST_GIVEN_UP = 3;

/** A server that waits for its client is not counted: the client may be gone. The text may be cut off. */
const COUNT_GIVEN_UP = {
  text: `select count(*)::integer from pg_stat_activity
    where datname = current_database() and state = 'active' and wait_event_type is distinct from 'Client'
      and query <> '' and starts_with($1, query)
      and clock_timestamp() - query_start > $2 * interval '1 millisecond'`,
};

/** Counts the statements that still run at the server, because it sees them also behind a pooler. */
async function countGivenUp(use: Use, text: string, longest: number): Promise<number> {
  try {
    const query = asQuery(COUNT_GIVEN_UP, [text, longest]);
    const { rows } = await use((client) => client.query<[number]>(query));
    return rows[0]?.[0] ?? 0;
  } catch (error) {
    // The view may be forbidden to this user. Then only the lock timeouts limit the wait.
    if (sqlState(error) === "42501") return 0;
    throw error;
  }
}

function release(client: PostgresClient, destroy: boolean): void {
  client.release(destroy);
  // A connection that is closed may still report an error.
  if (!destroy) client.off("error", ignore);
}

export function createTimeout(timeout: number, error: () => Error) {
  let expire = ignore;
  const expired = new Promise<never>((_, reject) => (expire = () => reject(error())));
  expired.catch(ignore);
  const timer = setTimeout(expire, timeout);
  return { expired, clear: () => clearTimeout(timer) };
}

/** Returns an error of PostgreSQL, and ours, as it is; every other one means that the connection is lost. */
function orLost(error: unknown): unknown {
  const isKnown = error instanceof ConnectionLost || error instanceof NotWritten;
  if (isKnown || sqlState(error) !== "") return error;
  return new ConnectionLost(codeOf(error) || "it was closed", { cause: error });
}

/** A new connection may end before its promise has resolved. */
function ignoreErrors(client: PostgresClient): void {
  client.on("error", ignore);
}

function ignore(): void {
  // The statement that uses the connection rejects with the same error.
}
