import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { Agent } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { inCi, sized } from "../../../scripts/test-size.js";
import { hurried, startAny, startBuilt, startCommand } from "./support/built-petstore.js";
import { startProgram, startServer, useBuiltPetstore } from "./support/built-petstore.js";
import { workersOf, type BuiltServer } from "./support/built-petstore.js";
import { databaseWithKey, issueUnlimitedKey, namesIn, newDatabase } from "./support/command.js";
import { addPet, count, sendAll, startWriters } from "./support/client.js";
import { runOnTerminal } from "./support/pseudo-terminal.js";
import { openSocket } from "./support/raw-client.js";

const program = useBuiltPetstore();

/** A server that has a bug when it receives SIGUSR2, and one in a promise at SIGWINCH. */
const startCrashing = (...args: readonly string[]): Promise<BuiltServer> => {
  const bug = '{ throw new Error("a bug"); });';
  const crash = `process.on("SIGUSR2", () => ${bug} process.on("SIGWINCH", async () => ${bug}`;
  const command = [process.execPath, "--import", `data:text/javascript,${crash}`, program()];
  return startBuilt(command, "--database", newDatabase(), ...args);
};

const healthOf = ({ url }: BuiltServer): Promise<number> =>
  fetch(new URL("/healthz", url)).then(({ status }) => status);

const ENDS = [
  ["an error that no code caught", "SIGUSR2", /Error: a bug\n\s+at .*javascript/, 70],
  ["a promise that no code awaits", "SIGWINCH", /Error: a bug\n/, 70],
  ["SIGHUP", "SIGHUP", /petstore received SIGHUP/, 0],
] as const;

it.each(ENDS.slice(0, sized(1, 3, 3)))(
  "a server that ends because of %s says so, and lets requests finish",
  async (_, signal, logged, code) => {
    const server = await startCrashing();
    const socket = await openSocket(server.url);
    socket.setEncoding("latin1").write("GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    // Until the server has this half, a signal may come before the request.
    await healthOf(server);
    const ended = server.end(signal);
    await expect.poll(() => server.output()).toMatch(logged);
    socket.write("done\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(code);
  },
);

it.each(["1", "2"].slice(0, sized(1, 2, 2)))("SIGUSR1 opens no inspector (%s)", async (workers) => {
  const server = await startCrashing("--workers", workers);
  for (const pid of [server.pid, ...workersOf(server)]) process.kill(pid, "SIGUSR1");
  for (let count = 0; count < 5; count += 1) expect(await healthOf(server)).toBe(200);
  expect(server.output()).toMatch(/^petstore listens on \S+.*\n(?: {2}.*\n)*$/);
});

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
const RESTARTS = sized(0, 6, 60);

it("serve --workers serves with the given number of processes, issues the first key once, admits exactly its plan, trusts its proxy, and ends with exit code 0", async () => {
  const server = await startServer(
    ...["--workers", "2", "--database", newDatabase(), "--first-key"],
    ...["--trust-proxy", "127.0.0.1"],
  );
  expect(server.output()).toContain("with 2 workers");
  const workers = workersOf(server);
  expect(workers).toHaveLength(2);
  await expect.poll(() => server.output()).toMatch(/curl .*\n/);
  const secret = /pet_live_\w+/.exec(server.output())?.[0] ?? "";
  const replies = await sendAll([server], Array<string>(90).fill(secret));
  expect([count(replies, 200), count(replies, 429)]).toEqual([60, 30]);
  for (const client of ["203.0.113.7", "203.0.113.8"]) {
    const headers = { "x-forwarded-for": client };
    const { headers: received } = await fetch(`${server.url}/pets`, { headers });
    expect(received.get("x-ratelimit-remaining")).toBe("59");
  }
  expect([await server.end("SIGTERM"), workers.filter(isAlive)]).toEqual([0, []]);
  for (const once of [/finishing/g, /pet_live_/g])
    expect(server.output().match(once)).toHaveLength(1);
});

it.runIf(inCi)("workers that die are replaced, no pet is lost, no worker is left", async () => {
  const database = newDatabase();
  const secret = await issueUnlimitedKey(database);
  const command = [process.execPath, ...hurried(20), program()];
  const server = await startBuilt(command, "--workers", "2", "--database", database);
  const [spared = -1] = workersOf(server);
  const restarts = () => server.output().match(/a worker is restarted: .*SIGKILL/g)?.length ?? 0;
  const killOthers = async (): Promise<void> => {
    const others = workersOf(server).filter((pid) => pid !== spared);
    spawnSync("kill", ["-9", ...others.map(String)]);
    await setTimeout(20);
  };
  const { created, stop } = startWriters(8, (name) =>
    addPet(server.url, new Agent(), secret, name).catch(() => undefined),
  );
  await expect.poll(() => created.size).toBeGreaterThan(50);
  while (restarts() < 1) await killOthers();
  await stop();

  while (restarts() < RESTARTS) await killOthers();
  expect((await addPet(server.url, new Agent(), secret, "Rex")).status).toBe(201);
  expect(isAlive(spared)).toBe(true);
  const workers = workersOf(server);
  await server.end("SIGKILL");
  await expect.poll(() => workers.filter(isAlive)).toEqual([]);

  const names = new Set(await namesIn(database));
  expect([...created.keys()].filter((name) => !names.has(name))).toEqual([]);
});

const hasBash = process.platform === "linux" && spawnSync("bash", ["-c", "true"]).status === 0;

const inShell = (shell: string, script: string, ...args: readonly string[]) => [
  ...[shell, "-c", script, shell, process.execPath, program(), ...args],
  ...["--database", newDatabase()],
];

const childOf = (shell: Parameters<typeof workersOf>[0]): number =>
  workersOf(shell)[0] ?? expect.unreachable("The shell has no child.");

async function serveIn(shell: string, script: string, ...options: readonly string[]) {
  const server = await startProgram(inShell(shell, script, "serve", "--port", "0", ...options), {});
  const child = childOf(server);
  onTestFinished(() => {
    if (workersOf(server).includes(child)) process.kill(child, "SIGKILL");
  });
  return { ...server, child };
}

it.runIf(hasBash).each([
  ["bash", 'nohup "$@"; exit $?'],
  ["bash", 'nohup "$@"; exit $?', "--workers", "2"],
  ["sh", 'trap "" HUP; "$@"; exit $?'],
  ["sh", `exec nohup sh -c '"$@"; exit $?' sh "$@"`],
])("SIGHUP has no effect on a server in %s -c %j", async (shell, script, ...options) => {
  const server = await serveIn(shell, script, ...options);
  const all = [server.child, ...workersOf({ pid: server.child })];
  for (const pid of all) process.kill(pid, "SIGHUP");
  for (let count = 0; count < 5; count += 1) expect(await healthOf(server)).toBe(200);
  process.kill(server.child, "SIGTERM");
  expect(await server.ended).toBe(0);
  expect(server.output()).not.toMatch(/SIGHUP|restarted/);
});

const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc"] as const;
const hasNamespaces = spawnSync("sh", ["-c", [...UNSHARE, "true"].join(" ")]).status === 0;

it.runIf(hasNamespaces)("the first process of a container stops in order, too", async () => {
  const server = await serveIn("sh", `exec ${UNSHARE.join(" ")} "$@"`);
  expect(await healthOf(server)).toBe(200);
  process.kill(server.child, "SIGTERM");
  expect(await server.ended).toBe(0);
  expect(server.output()).toContain("received SIGTERM");
});

/** Sends SIGTERM to the process before the command uses its streams. */
const EARLY = `data:text/javascript,const { stdout } = process;
  Object.defineProperty(process, "stdout", { get() { early(); return stdout; } });
  let early = () => { early = () => {}; process.kill(process.pid, "SIGTERM"); };`;

it.each([
  [0, /received SIGTERM/, ["serve", "--port", "0"]],
  [0, /received SIGTERM/, ["console"]],
  [1, /it received a signal to stop/, ["pets", "import", "-"]],
  [1, /it received a signal to stop/, ["pets", "export", "pipe"]],
  [1, /it received a signal to stop/, ["pets", "export", "-"]],
  [1, /The backup was stopped/, ["backup", "never.db"]],
  [1, /The backup was stopped/, ["restore", "copy.db"]],
  ["SIGTERM", /^$/, ["keys", "list"]],
] as const)("%s: %s when SIGTERM comes at the start of %j", async (code, says, args) => {
  const { database } = await databaseWithKey();
  copyFileSync(database, join(dirname(database), "copy.db"));
  spawnSync("mkfifo", [join(dirname(database), "pipe")]);
  const command = ["--import", EARLY, program(), ...args, "--database", database];
  const options = { cwd: dirname(database), timeout: 20_000, killSignal: "SIGKILL" } as const;
  const { output, ended } = startAny([process.execPath, ...command], options);
  expect([await ended, output()]).toEqual([code, expect.stringMatching(says)]);
});

it("a console prints a link for each line of a pipe, and ends with it", async () => {
  const { database } = await databaseWithKey();
  const { child, output, ended } = startCommand("console", "--database", database);
  const links = (): number => output().split("#token=").length - 1;
  await expect.poll(links).toBe(1);
  child.stdin.write("\n\n");
  await expect.poll(links).toBe(3);
  child.stdin.end();
  expect(await ended).toBe(0);
});

it("a console in the background does not stop when its terminal has input, nor when it can write no file for a browser", async () => {
  const { database } = await databaseWithKey();
  const console = `TMPDIR=/nowhere ${process.execPath} ${program()} console --database ${database}`;
  const then = 'echo "pid $(jobs -p)"; wait %1; echo "ended with $?"';
  // Started there, or stopped (Ctrl-Z) and moved there, with a line that waits or comes later.
  for (const [next = "", stop = ""] of [["&"], ["; bg;", "\u001A"]]) {
    const job = `bash -m -c '${console} ${next} ${then}'`;
    const { output, type, ended } = runOnTerminal(job, 200, 24);
    await expect.poll(output).toMatch(/#token=\S+\r\n/);
    type(`${stop}\r`);
    await expect.poll(output).toContain("pid ");
    type("\r");
    const [url = ""] = /http:\S+/.exec(output()) ?? [];
    expect((await fetch(url)).status).toBe(401);
    process.kill(Number(/pid (\d+)/.exec(output())?.[1]), "SIGTERM");
    expect([await ended, output()]).toEqual([0, expect.stringContaining("ended with 0")]);
  }
});
