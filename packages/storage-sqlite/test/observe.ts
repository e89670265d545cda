import type Database from "better-sqlite3";

/** Makes a host's open database tell the source of each statement once it was run, or has failed. */
export function observe(database: Database.Database, ran: (source: string) => void): void {
  const prepare = database.prepare.bind(database);
  database.prepare = ((source: string) => {
    const statement = prepare(source);
    for (const method of ["get", "all", "run"] as const) {
      const run = statement[method].bind(statement);
      statement[method] = ((...values: unknown[]) => {
        try {
          return run(...values);
        } finally {
          ran(source);
        }
      }) as never;
    }
    return statement;
  }) as typeof prepare;
}
