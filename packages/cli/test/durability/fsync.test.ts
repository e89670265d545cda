import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync } from "node:fs";
import { Agent } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { startBuilt, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase } from "../support/command.js";
import { addPet, send } from "../support/client.js";

/** strace may be missing, or not be allowed to trace. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const PETS = 5;

const HOW_TO_INSTALL =
  "strace cannot trace here: run `apt-get update && apt-get install -y strace`.";

const program = useBuiltPetstore();

// Without strace, the tests below are skipped. In CI, this test fails instead.
it.skipIf(canTrace || process.env["CI"] === undefined)("runs in CI", () => {
  expect.fail(HOW_TO_INSTALL);
});

/** The server's calls on the log and its sockets, in order. */
function stepsOf(trace: string): readonly string[] {
  return trace.split("\n").flatMap((line) => {
    if (line.includes("resumed>")) return [];
    if (/ pwrite64\(\d+<.*-wal>/.test(line)) return ["write"];
    if (/ f(data)?sync\(\d+<.*-wal>/.test(line)) return ["sync"];
    return line.includes("HTTP/1.1 201") ? ["201"] : [];
  });
}

it.skipIf(!canTrace)(
  `syncs an export before it has its name${canTrace ? "" : ` (${HOW_TO_INSTALL})`}`,
  async () => {
    const database = newDatabase();
    await issueUnlimitedKey(database);
    const folder = realpathSync(dirname(database));
    const trace = join(folder, "trace");
    const calls = "trace=fsync,rename,renameat,renameat2";
    const strace = [
      "-f",
      "--seccomp-bpf",
      "-y",
      "-e",
      calls,
      "-o",
      trace,
      process.execPath,
      program(),
    ];
    const file = join(folder, "pets.ndjson");
    const args = ["pets", "export", file, "--database", database];
    expect(spawnSync("strace", [...strace, ...args]).status).toBe(0);
    const steps = readFileSync(trace, "utf8").match(/fsync\(\d+<[^>]*>|rename\w*\(/g) ?? [];
    expect(steps.map((step) => step.replace(/^fsync\(\d+/, "fsync"))).toEqual([
      expect.stringMatching(/^fsync<.*pets\.ndjson\..*\.unfinished>$/),
      expect.stringMatching(/^rename/),
    ]);
  },
);

it.skipIf(!canTrace)(
  `syncs the log between the last write of a pet and its 201${canTrace ? "" : ` (${HOW_TO_INSTALL})`}`,
  async () => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const trace = join(dirname(database), "trace");
    const calls = "trace=pwrite64,fsync,fdatasync,write,writev,sendto";
    const strace = ["strace", "-f", "--seccomp-bpf", "-y", "-s", "64", "-e", calls, "-o", trace];
    const server = await startBuilt(
      [...strace, process.execPath, program()],
      "--database",
      database,
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < PETS; count += 1) {
      expect((await addPet(server.url, agent, secret, `pet ${count}`)).status).toBe(201);
    }
    agent.destroy();
    const traced = Number(/^(\d+)/.exec(readFileSync(trace, "utf8"))?.[1]);
    process.kill(traced, "SIGTERM");
    await server.ended;

    const steps = stepsOf(readFileSync(trace, "utf8"));
    const responses = steps.flatMap((step, index) => (step === "201" ? [index] : []));
    expect(responses).toHaveLength(PETS);
    for (const response of responses) {
      expect(steps.slice(steps.lastIndexOf("write", response) + 1, response)).toEqual(["sync"]);
    }
  },
);

it.skipIf(!canTrace)(
  `keeps no pet whose sync failed, also when it is killed then${canTrace ? "" : ` (${HOW_TO_INSTALL})`}`,
  async () => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const start = () => startServer("--database", database);
    const server = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await addPet(server.url, agent, secret, "kept")).status).toBe(201);
    const disk = await failingSyncs(server.pid);
    expect((await addPet(server.url, agent, secret, "lost")).status).toBe(503);
    await server.end("SIGKILL");
    await disk.ended;
    agent.destroy();

    const restarted = await start();
    const listed = await send(`${restarted.url}/pets`, new Agent(), secret);
    expect(JSON.parse(listed.body)).toMatchObject([{ name: "kept" }]);
    expect(await restarted.end("SIGTERM")).toBe(0);
  },
);

/** Has every sync of a process fail from now on, as those of a broken disk do. */
async function failingSyncs(pid: number): Promise<{ readonly ended: Promise<unknown> }> {
  const failing = ["-e", "trace=fsync", "-e", "inject=fsync:error=EIO"];
  const args = ["-f", "-o", "/dev/null", "-p", String(pid), ...failing];
  const tracer = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(tracer, "exit");
  for await (const line of createInterface(tracer.stderr)) if (line.includes("attached")) break;
  return { ended };
}
