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
  const tables = connection.select(["name", "sql"], (queries) =>
    queries
      .selectFrom("sqlite_schema")
      .select(["name", "sql"])
      .where("type", "=", sql.lit("table")),
  );
  let seen: number | undefined;
  let reason: string | undefined;
  return () => {
    const current = version.get([])?.[0];
    if (current === seen) return reason;
    seen = current;
    const [name] = tables.all(undefined).find(isUnusable) ?? [];
    return (reason = name && reasonFor(name));
  };
}

/** SQLite ignores the case of a table's name, but not in `sqlite_sequence`. */
function isUnusable([name, definition]: readonly [name: string, definition: string]): boolean {
  const needed = NEEDED.get(name.toLowerCase());
  return needed !== undefined && !(NEEDED.has(name) && definition.toUpperCase().includes(needed));
}

function reasonFor(name: string): string {
  const own = name.toLowerCase();
  return `another program rebuilt the table ${name}, which must be named ${own} and have ${NEEDED.get(own)}`;
}
