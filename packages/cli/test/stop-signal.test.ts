import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAny, startProgram, useBuiltPetstore, workersOf } from "./support/built-petstore.js";
import { issueKey, newDatabase } from "./support/command.js";

const program = useBuiltPetstore();
const isLinux = process.platform === "linux";
const hasBash = spawnSync("bash", ["-c", "true"]).status === 0;

/** Starts a command of a shell that runs a server as its child. */
async function serveIn(shell: string, script: string, ...options: readonly string[]) {
  const serve = [process.execPath, program(), "serve", "--port", "0", "--database", newDatabase()];
  const server = await startProgram([shell, "-c", script, shell, ...serve, ...options], {});
  const [pid] = workersOf(server);
  if (pid === undefined) throw new Error("The shell has no child.");
  onTestFinished(() => {
    if (workersOf(server).includes(pid)) process.kill(pid, "SIGKILL");
  });
  return { ...server, child: pid, health: () => fetch(new URL("/healthz", server.url)) };
}

describe.runIf(isLinux)("SIGHUP has no effect", () => {
  it.runIf(hasBash).each([
    ["bash", "nohup", 'nohup "$@"; exit $?', []],
    ["bash, with workers, ", "nohup", 'nohup "$@"; exit $?', ["--workers", "2"]],
    ["sh", "a shell that ignores it", 'trap "" HUP; "$@"; exit $?', []],
    ["sh", "a script under nohup", `exec nohup sh -c '"$@"; exit $?' sh "$@"`, []],
  ] as const)("in %s under %s", async (name, _, script, options) => {
    const server = await serveIn(name.split(",")[0] ?? "", script, ...options);
    const all = [server.child, ...workersOf({ pid: server.child })];
    for (const pid of all) process.kill(pid, "SIGHUP");
    for (let count = 0; count < 5; count += 1) expect((await server.health()).status).toBe(200);
    process.kill(server.child, "SIGTERM");
    expect(await server.ended).toBe(0);
    expect(server.output()).not.toContain("SIGHUP");
    expect(server.output()).not.toContain("restarted");
  });
});

it.runIf(isLinux && hasBash)("SIGHUP does not stop an import under nohup", async () => {
  const args = [process.execPath, program(), "pets", "import", "-", "--database", newDatabase()];
  const command = ["bash", "-c", 'nohup "$@"; exit $?', "bash", ...args];
  const { child, output, ended } = startAny(command);
  await expect.poll(output).toContain("new database");
  const [pid] = workersOf(child);
  if (pid === undefined) throw new Error("The shell has no child.");
  process.kill(pid, "SIGHUP");
  child.stdin.end('{"name":"Rex","categoryId":1}\n');
  expect(await ended).toBe(0);
  expect(output()).toContain("imported 1 pet\n");
});

const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc"] as const;
const hasNamespaces = spawnSync("sh", ["-c", [...UNSHARE, "true"].join(" ")]).status === 0;

it.runIf(hasNamespaces)("the first process of a container stops in order, too", async () => {
  const server = await serveIn("sh", `exec ${UNSHARE.join(" ")} "$@"`);
  expect((await server.health()).status).toBe(200);
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
  [1, /it received a signal to stop/, ["pets", "export", "-"]],
  [1, /The backup was stopped/, ["backup", "never.db"]],
  ["SIGTERM", /^$/, ["keys", "list"]],
] as const)("%s: %s when SIGTERM comes at the start of %j", async (code, says, args) => {
  const database = newDatabase();
  await issueKey(database);
  const command = ["--import", EARLY, program(), ...args, "--database", database];
  const options = { cwd: dirname(database), timeout: 20_000, killSignal: "SIGKILL" } as const;
  const { output, ended } = startAny([process.execPath, ...command], options);
  expect([await ended, output()]).toEqual([code, expect.stringMatching(says)]);
});
