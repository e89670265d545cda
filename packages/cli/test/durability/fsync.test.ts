import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync } from "node:fs";
import { Agent } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { startBuilt, startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petstore } from "../support/command.js";
import { addPet } from "../support/client.js";

/** strace may be missing, or not be allowed to trace. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const PETS = 5;

const program = useBuiltPetstore();

// Without strace, the tests below are skipped. In CI, this test fails instead.
it.skipIf(canTrace || process.env["CI"] === undefined)("runs in CI", () => {
  expect.fail("strace cannot trace here: run `apt-get update && apt-get install -y strace`.");
});

/** Starts the command with these of its calls traced into this file. */
const traced = (file: string, calls: string): readonly string[] => [
  ...["strace", "-f", "--seccomp-bpf", "-y", "-s", "64", "-e", `trace=${calls}`, "-o", file],
  ...[process.execPath, program()],
];

describe.skipIf(!canTrace)("petstore", () => {
  it("syncs an export before it has its name", async () => {
    const database = newDatabase();
    await issueUnlimitedKey(database);
    const folder = realpathSync(dirname(database));
    const trace = join(folder, "trace");
    const [strace = "", ...command] = traced(trace, "fsync,rename,renameat,renameat2");
    const args = ["pets", "export", join(folder, "pets.ndjson"), "--database", database];
    expect(spawnSync(strace, [...command, ...args]).status).toBe(0);
    const steps = readFileSync(trace, "utf8").match(/fsync\(\d+<[^>]*>|rename\w*\(/g);
    expect(steps).toEqual([
      expect.stringMatching(/^fsync\(\d+<.*pets\.ndjson\..*\.unfinished>$/),
      expect.stringMatching(/^rename/),
    ]);
  });

  it("syncs the log between the last write of a pet and its 201", async () => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const trace = join(dirname(database), "trace");
    const command = traced(trace, "pwrite64,fsync,fdatasync,write,writev,sendto");
    const server = await startBuilt(command, "--database", database);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < PETS; count += 1) {
      expect((await addPet(server.url, agent, secret, `pet ${count}`)).status).toBe(201);
    }
    agent.destroy();
    process.kill(Number.parseInt(readFileSync(trace, "utf8")), "SIGTERM");
    await server.ended;

    // The server's calls on the log and its sockets, in order.
    const steps = readFileSync(trace, "utf8")
      .split("\n")
      .filter((line) => !line.includes("resumed>"))
      .flatMap((line) => {
        if (/ pwrite64\(\d+<.*-wal>/.test(line)) return "write";
        if (/ f(data)?sync\(\d+<.*-wal>/.test(line)) return "sync";
        return line.includes("HTTP/1.1 201") ? "201" : [];
      });
    const responses = steps.flatMap((step, index) => (step === "201" ? index : []));
    expect(responses).toHaveLength(PETS);
    for (const response of responses) {
      expect(steps.slice(steps.lastIndexOf("write", response) + 1, response)).toEqual(["sync"]);
    }
  });

  it("keeps no pet whose sync failed, also when it is killed then", async () => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const server = await startServer("--database", database);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await addPet(server.url, agent, secret, "kept")).status).toBe(201);
    const disk = await failingSyncs(server.pid);
    expect((await addPet(server.url, agent, secret, "lost")).status).toBe(503);
    await server.end("SIGKILL");
    await disk.ended;
    agent.destroy();
    const { out } = await petstore("pets", "export", "--database", database);
    expect(JSON.parse(out)).toMatchObject({ name: "kept" });
  });
});

/** Has every sync of a process fail from now on, as those of a broken disk do. */
async function failingSyncs(pid: number): Promise<{ readonly ended: Promise<unknown> }> {
  const failing = ["-e", "trace=fsync", "-e", "inject=fsync:error=EIO"];
  const args = ["-f", "-o", "/dev/null", "-p", String(pid), ...failing];
  const tracer = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(tracer, "exit");
  for await (const line of createInterface(tracer.stderr)) if (line.includes("attached")) break;
  return { ended };
}
