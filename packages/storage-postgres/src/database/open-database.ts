import { createWarnings, monotonicNow } from "@petstore/storage-sql";
import { migrate } from "../migrations/migrate.js";
import { createConnection, TABLES } from "./connection.js";
import { createDatabaseClock, type DatabaseClock } from "./database-clock.js";
import { createDatabase, type Database, type PoolSource } from "./database.js";
import { loadDriver } from "./driver.js";
import { OpenRefusal, READ_ONLY } from "./open-storage-error.js";
import type { Settings } from "./options.js";

const OLDEST_POSTGRES = 15;

export type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Connects, and brings the tables up to date. Rejects when the database cannot be used. */
export async function openDatabase({ source, schema, timeout }: Settings) {
  const database = createDatabase(await poolSourceOf(source, timeout), timeout);
  try {
    const clock = createDatabaseClock(monotonicNow);
    await refuseUnusable(database, clock);
    await migrate(database, schema);
    await refuseWithoutRights(database, schema);
    const connection = createConnection(database, schema);
    return { connection, clock, ...createWarnings(), close: database.close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function poolSourceOf(source: Settings["source"], timeout: number): Promise<PoolSource> {
  if (!("url" in source)) return { open: () => source, isOwn: false };
  const { url, connections } = source;
  const openPool = await loadDriver();
  return { open: () => openPool(url, connections, timeout), isOwn: true };
}

const SERVER = `select current_setting('server_version_num')::integer, current_setting('server_encoding'),
  (select name from unnest(array['fsync', 'full_page_writes']) as name where current_setting(name) = 'off' limit 1),
  current_setting('transaction_read_only'), (extract(epoch from clock_timestamp()) * 1000)::bigint`;

async function refuseUnusable(database: Database, clock: DatabaseClock): Promise<void> {
  // Connecting takes longer than a statement, and would make the clock less exact.
  const [one] = await database.query<[number]>({ text: "select $1::integer" }, [1]);
  // pg decodes binary values as UTF-8, which destroys them.
  if (one?.[0] !== 1) {
    throw new OpenRefusal("failed", "The pool reads binary values: create it without `binary`.");
  }
  const sentAt = monotonicNow();
  const [row] = await database.query<
    [version: number, encoding: string, off: string | null, readOnly: string, now: number]
  >({ text: SERVER });
  if (!row) throw new TypeError("The server returned no settings.");
  const [version, encoding, off, readOnly, now] = row;
  clock.observe(now, sentAt, monotonicNow());
  const major = Math.floor(version / 10_000);
  const old = `PostgreSQL is ${major}, but must be ${OLDEST_POSTGRES} or newer.`;
  const wrong = `The database's encoding is ${encoding}, but must be UTF8.`;
  // A standby serves reads, but may lack the newest commits.
  if (readOnly === "on") throw new OpenRefusal("read_only", READ_ONLY);
  if (major < OLDEST_POSTGRES) throw new OpenRefusal("postgres_too_old", old);
  if (encoding !== "UTF8") throw new OpenRefusal("not_utf8", wrong);
  if (off === null) return;
  throw new OpenRefusal("not_durable", `The setting ${off} is off, so a commit could be lost.`);
}

async function refuseWithoutRights(database: Database, schema: string): Promise<void> {
  const names = TABLES.map((table) => `${schema}.${table}`);
  const text = `select 'lacks the right ' || lower(privilege) || ' on the table ' || name
      from unnest($1::text[]) as name, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
      where not has_table_privilege(name, privilege)
    union all select 'lacks the right execute on the function ' || $2 where not has_function_privilege($2, 'execute')
    union all select 'does not see each row of the table ' || name || ', because of its row security'
      from unnest($1::text[]) as name where row_security_active(name) limit 1`;
  const timeline = `${schema}.current_timeline()`;
  const [missing] = await database.query<[string]>({ text }, [names, timeline]);
  if (missing) throw new OpenRefusal("not_allowed", `The user ${missing[0]}.`);
}
