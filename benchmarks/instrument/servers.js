// Servers in processes of their own, on copies of the same databases.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Operation } from "./load.js" */

/**
 * A server that takes part.
 * @typedef {object} Server
 * @property {string} name
 * @property {string} program a file of `servers/`, or "serve": the command `petstore serve`
 * @property {readonly string[]} [args] more arguments
 * @property {Readonly<Record<string, string>>} [env] more of the environment
 * @property {readonly string[]} [flags] of Node
 * @property {number} [workers] processes, each with a load of its own: 1 if left out
 * @property {readonly Operation[]} [does] all operations if left out
 */

/** Where a server keeps its pets: a file or an address; and the key of a peer. @typedef {{ database: string, key?: string }} Place */

const COMMAND = fileURLToPath(new URL("../../packages/cli/bin/petstore.js", import.meta.url));

/** @type {(() => unknown)[]} */
const ends = [];
process.on("exit", () => ends.toReversed().forEach((end) => end()));

/**
 * Starts a program that ends with this process at the latest.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 */
export function start(program, args, options) {
  const child = spawn(program, args, options);
  ends.push(() => child.kill("SIGKILL"));
  return child;
}

/** Makes a folder that is removed at the end of this process. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a server and waits until it listens. @param {Omit<Server, "name">} server @param {Place} place */
export async function startServer(server, { database, key = "" }) {
  const { program, args = [], env = {}, flags = [] } = server;
  const file = fileURLToPath(new URL(`../servers/${program}.js`, import.meta.url));
  const line =
    program === "serve" ? [COMMAND, "serve", "--port", "0", "--database", database] : [file];
  const started = performance.now();
  const child = start(process.execPath, [...flags, ...line, ...args], {
    env: { ...process.env, NODE_ENV: "production", DATABASE: database, API_KEY: key, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { port, secret } = await greetingOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    secret,
    cpuTime: () => cpuTimeOf(child.pid),
    /** Milliseconds from the start of the process to listening. */
    startup: performance.now() - started,
    stop: async () => {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

/** A server prints its port or address; and before, the secret that it has issued. @param {ChildProcess} child */
async function greetingOf({ stdout }) {
  let secret = "";
  if (stdout === null) throw new Error("The server prints nothing.");
  for await (const line of createInterface(stdout)) {
    if (line.startsWith("pet_live_")) secret = line;
    const [, port] = /(?:^|http:\S+:)(\d+)(?:\/v1|$)/.exec(line) ?? [];
    if (port === undefined) continue;
    // A server that prints more must not wait for a reader.
    stdout.resume();
    return { port, secret };
  }
  throw new Error("The server ended before it listened.");
}

/**
 * Fills two databases on SQLite, ours and that of the floor and the peers. Each is filled by the server that reads it.
 * @param {number} pets
 */
export async function seed(pets) {
  const folder = makeFolder();
  const fileOf = (/** @type {string} */ name) => join(folder, `${name}.db`);
  const fill = async (/** @type {string} */ program) => {
    const server = { program, env: { SEED: String(pets) } };
    const { secret, stop } = await startServer(server, { database: fileOf(program) });
    await stop();
    return secret;
  };
  await fill("floor");
  const key = await fill("petstore");
  return {
    key,
    /** Copies the database of a server, so that creates before do not count. @param {Omit<Server, "name">} server */
    copyFor: ({ program }, name = program) => {
      const seeded = fileOf(program === "petstore" || program === "serve" ? "petstore" : "floor");
      const database = fileOf(`${name}, copied`);
      for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
      for (const end of ["", "-wal"]) {
        if (existsSync(seeded + end)) copyFileSync(seeded + end, database + end);
      }
      return { database, key };
    },
  };
}

/**
 * Lets a process and what it starts later run on one core only, where `taskset` exists and there are two
 * cores: a server and its load then do not take each other's time.
 * @param {number | undefined} pid
 * @param {number} core
 */
export function pin(pid, core) {
  if (cpus().length > 1) spawnSync("taskset", ["-acp", String(core), String(pid)]);
}

/**
 * The microseconds of processor time that a process and its children have had, without those and without threads that
 * have ended; NaN where there is no /proc.
 * @param {number | undefined} parent
 */
export function cpuTimeOf(parent) {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
    return [parent, ...children.split(" ").filter(Boolean)]
      .flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`))
      .map((task) => Number(readFileSync(`/proc/${task}/schedstat`, "utf8").split(" ")[0]) / 1_000)
      .reduce((sum, time) => sum + time, 0);
  } catch {
    return Number.NaN;
  }
}
