import pg from "pg";
import { beforeEach, expect, onTestFinished } from "vitest";
import type { PostgresServer } from "./postgres-server.js";

export type Admin = Awaited<ReturnType<typeof connectAdmin>>;

export async function connectAdmin(url: string) {
  const client = new pg.Client({ connectionString: url, application_name: "admin" });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  let last: Promise<unknown> = Promise.resolve();
  const query = (text: string): Promise<readonly unknown[][]> => {
    const result = last.then(() => client.query<unknown[]>({ text, rowMode: "array" }));
    last = result.catch(() => undefined);
    return result.then(({ rows }) => rows);
  };
  const set = async (name: string, value: string): Promise<void> => {
    await query(`alter system set ${name} = '${value}'`);
    await query("select pg_reload_conf()");
    await expect.poll(() => query(`show ${name}`)).toEqual([[value]]);
  };
  return { query, set };
}

export function useAdmin(server: PostgresServer): Admin {
  let admin: Admin;
  beforeEach(async () => void (admin = await connectAdmin(server.url())));
  return { query: (text) => admin.query(text), set: (name, value) => admin.set(name, value) };
}

export async function endConnections(admin: Admin, application = "petstore"): Promise<void> {
  await admin.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where application_name = '${application}'`,
  );
}

/** Ends a connection of a storage, at random among those that run a statement, if any. Resolves to how many. */
export async function terminateOne(admin: Admin): Promise<number> {
  const rows = await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'petstore' and datname = current_database()
     order by state = 'active' desc, random() limit 1`,
  );
  return rows.length;
}
