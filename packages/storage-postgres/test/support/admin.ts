import pg from "pg";
import { onTestFinished } from "vitest";

/** An operator's connection. */
export type Admin = Awaited<ReturnType<typeof connectAdmin>>;

/** Connects as an operator until the end of the test. */
export async function connectAdmin(url: string) {
  const client = new pg.Client({ connectionString: url, application_name: "admin" });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(async () => {
    await client.end().catch(() => undefined);
  });
  let last: Promise<unknown> = Promise.resolve();
  return {
    query: (text: string): Promise<readonly unknown[][]> => {
      const result = last.then(() => client.query<unknown[]>({ text, rowMode: "array" }));
      last = result.catch(() => undefined);
      return result.then(({ rows }) => rows);
    },
  };
}

/** Ends the connections of an application. */
export async function endConnections(admin: Admin, application = "petstore"): Promise<void> {
  await admin.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where application_name = '${application}'`,
  );
}

/**
 * Ends a connection of a storage, chosen at random among those that run a statement, if there are any.
 * Resolves to how many it ended.
 */
export async function terminateOne(admin: Admin): Promise<number> {
  const rows = await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'petstore' and datname = current_database()
     order by state = 'active' desc, random() limit 1`,
  );
  return rows.length;
}
