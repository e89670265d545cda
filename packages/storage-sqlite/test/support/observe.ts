import type Database from "better-sqlite3";

/** Calls `ran` with the source of each statement of a host's open database after it has run or failed. */
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
    statement.iterate = (...values: unknown[]) => statement.all(...values).values();
    return statement;
  }) as typeof prepare;
}
