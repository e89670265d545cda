import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { freePort } from "../../../../scripts/ports.js";
import { giveToPostgres, logged, unprivileged } from "./postgres-server.js";

const PROGRAM = "/usr/sbin/pgbouncer";

/** Whether PgBouncer is there; in CI it must be. */
export const hasPgBouncer = existsSync(PROGRAM) || process.env["CI"] !== undefined;

/** Whether a client keeps a connection of the server for its session or for a transaction. */
export type PoolMode = "session" | "transaction";

/** Starts PgBouncer in front of a server. `port` is where the pooler finds the server. */
export async function startPooler(server: string, port: string, mode: PoolMode) {
  const folder = mkdtempSync(join(inject("sharedFolder"), "pgbouncer-"));
  const settings = join(folder, "pgbouncer.ini");
  const ownPort = await freePort();
  const url = new URL(server);
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${port} user=${url.username} password=${url.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 5
; After a failed login, PgBouncer waits this many seconds: by default 15, longer than a call waits.
server_login_retry = 0.1
`,
  );
  for (const path of [folder, settings]) giveToPostgres(path);
  const stdio = ["ignore", "ignore", "pipe"] as const;
  const pooler = spawn(PROGRAM, [settings], { ...unprivileged, cwd: folder, stdio: [...stdio] });
  const ended = once(pooler, "exit");
  await logged(pooler, /process up/);
  url.port = String(ownPort);
  return {
    url: url.href,
    stop: async () => {
      pooler.kill("SIGKILL");
      await ended;
    },
  };
}
