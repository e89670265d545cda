import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../scripts/ports.js";
import { unprivilegedUser, type PostgresServer } from "./postgres-server.js";

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
  const folder = mkdtempSync(join(tmpdir(), "petstore-pgbouncer-"));
  const owner = unprivilegedUser();
  const settings = join(folder, "pgbouncer.ini");
  const port = await freePort();
  const { username, password } = new URL(server.url());
  const login = `user=${username} password=${password}`;
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
  );
  if (owner) for (const path of [folder, settings]) chownSync(path, owner.uid, owner.gid);
  const child = spawn(PROGRAM, [settings], {
    ...owner,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      if (log.includes("process up")) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`PgBouncer did not start:\n${log}`)));
  });
  return {
    url: server.url().replace(`:${server.port}/`, `:${port}/`),
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
