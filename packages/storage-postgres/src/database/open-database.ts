import { createWarnings, monotonicNow, type Warnings } from "@petstore/storage-sql";
import { TABLES } from "../tables/schema.js";
import { migrate } from "../migrations/migrate.js";
import { createConnection, type Connection } from "./connection.js";
import { createDatabaseClock, type DatabaseClock } from "./database-clock.js";
import { createDatabase, type Database, type PoolSource } from "./database.js";
import { loadDriver } from "./driver.js";
import { OpenRefusal, READ_ONLY } from "./open-storage-error.js";
import type { Settings } from "./options.js";

/** A database whose tables are up to date. */
export interface OpenDatabase extends Warnings {
  readonly connection: Connection;
  readonly clock: DatabaseClock;
  /** Closes the storage's own pool; a host's pool stays open. */
  readonly close: () => Promise<void>;
}

const OLDEST_POSTGRES = 15;

/** Connects, and brings the tables up to date. Rejects when the database cannot be used. */
export async function openDatabase(settings: Settings): Promise<OpenDatabase> {
  const { source, schema, timeout } = settings;
  const database = createDatabase(await poolSourceOf(source, timeout), timeout);
  try {
    const clock = createDatabaseClock(monotonicNow);
    await refuseUnusable(database, clock);
    await migrate(database, schema);
    await refuseWithoutRights(database, schema);
    return {
      connection: createConnection(database, schema),
      clock,
      ...createWarnings(),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A host's pool needs no driver of ours. */
async function poolSourceOf(source: Settings["source"], timeout: number): Promise<PoolSource> {
  if (!("url" in source)) return { open: () => source, isOwn: false };
  const createPool = await loadDriver();
  return { open: () => createPool({ ...source, timeout }), isOwn: true };
}

const SERVER = `select current_setting('server_version_num')::integer, current_setting('server_encoding'),
  current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('transaction_read_only'),
  (extract(epoch from clock_timestamp()) * 1000)::float8`;

type ServerRow = readonly [
  version: number,
  encoding: string,
  fsync: string,
  fullPageWrites: string,
  readOnly: string,
  now: number,
];

async function refuseUnusable(database: Database, clock: DatabaseClock): Promise<void> {
  // Connecting takes longer than a statement, and would make the clock less exact.
  const [one] = await database.query<[number]>({ text: "select $1::integer" }, [1]);
  // pg decodes binary values as UTF-8, which destroys them.
  if (one?.[0] !== 1) {
    throw new OpenRefusal("failed", "The pool reads binary values: create it without `binary`.");
  }
  const sentAt = monotonicNow();
  const [row] = await database.query<ServerRow>({ text: SERVER });
  if (!row) throw new TypeError("The server returned no settings.");
  const [version, encoding, fsync, fullPageWrites, readOnly, now] = row;
  clock.observe(now, sentAt, monotonicNow());
  // It answers reads, but may lack the newest commits.
  if (readOnly === "on") throw new OpenRefusal("read_only", READ_ONLY);
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRES) {
    const message = `PostgreSQL is ${major}, but must be ${OLDEST_POSTGRES} or newer.`;
    throw new OpenRefusal("postgres_too_old", message);
  }
  if (encoding !== "UTF8") {
    throw new OpenRefusal("not_utf8", `The database's encoding is ${encoding}, but must be UTF8.`);
  }
  const settings = { fsync, full_page_writes: fullPageWrites };
  const [off] = Object.entries(settings).find(([, value]) => value === "off") ?? [];
  if (off !== undefined) {
    throw new OpenRefusal("not_durable", `The setting ${off} is off, so a commit could be lost.`);
  }
}

async function refuseWithoutRights(database: Database, schema: string): Promise<void> {
  const names = TABLES.map((table) => `${schema}.${table}`);
  const [missing] = await database.query<[string, string]>(
    {
      text: `select name, lower(privilege) from unnest($1::text[]) as name,
      unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
      where not has_table_privilege(name, privilege) limit 1`,
    },
    [names],
  );
  if (!missing) return;
  const message = `The user lacks the right to ${missing[1]} in the table ${missing[0]}.`;
  throw new OpenRefusal("not_allowed", message);
}
