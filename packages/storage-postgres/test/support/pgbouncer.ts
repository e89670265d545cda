import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { freePort } from "../../../../scripts/ports.js";
import { giveToPostgres, logged, unprivileged, type PostgresServer } from "./postgres-server.js";

const PROGRAM = "/usr/sbin/pgbouncer";

/** Whether PgBouncer is installed: `apt-get install pgbouncer`. In CI, its tests must run. */
export const hasPgbouncer = existsSync(PROGRAM) || process.env["CI"] !== undefined;

/** A PgBouncer in transaction mode in front of a server. */
export interface Pgbouncer {
  /** The URL of a database of the server, through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPgbouncer(server: PostgresServer): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(inject("sharedFolder"), "pgbouncer-"));
  const settings = join(folder, "pgbouncer.ini");
  const port = await freePort();
  const { username, password } = new URL(server.url());
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
  );
  for (const path of [folder, settings]) giveToPostgres(path);
  const child = spawn(PROGRAM, [settings], {
    ...unprivileged,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  await logged(child, /process up/);
  return {
    url: server.url().replace(`:${server.port}/`, `:${port}/`),
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
