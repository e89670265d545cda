import { sql } from "kysely";
import type { Connection } from "../database/connection.js";

/** What the definition of a table must have after another program has rebuilt it, so that no id and no key repeats. */
const NEEDED = new Map([
  ["pets", "AUTOINCREMENT"],
  ["api_keys", "PRIMARY KEY"],
  ["api_key_secrets", "PRIMARY KEY"],
  ["api_key_usage", "PRIMARY KEY"],
  ["pet_creations", "PRIMARY KEY"],
]);

/** Prepares a check that returns why a table cannot be used, if so. It looks only after a change of the schema. */
export function prepareRebuilt(connection: Connection): () => string | undefined {
  const version = connection.database.prepare<readonly [number]>("pragma main.schema_version");
  version.raw(true);
  const tables = connection.select(
    ["name", "sql"],
    () => sql<{ readonly name: string; readonly sql: string }>`
      select "name", "sql" from "main"."sqlite_schema" where "type" = 'table'`,
  );
  let seen: number | undefined;
  let reason: string | undefined;
  return () => {
    const current = version.get([])?.[0];
    if (current !== seen) reason = tables.all(undefined).map(problemOf).find(Boolean);
    seen = current;
    return reason;
  };
}

/** SQLite ignores the case of a table's name, but not in `sqlite_sequence`. */
function problemOf([name, definition]: readonly [name: string, definition: string]) {
  const own = name.toLowerCase();
  const needed = NEEDED.get(own);
  if (needed === undefined) return undefined;
  if (name === own && definition.toUpperCase().includes(needed)) return undefined;
  return `another program rebuilt the table ${name}, which must be named ${own} and have ${needed}`;
}
