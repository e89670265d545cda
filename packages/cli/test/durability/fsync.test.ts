import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync } from "node:fs";
import { Agent } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { startServer, useBuiltPetstore } from "../support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petsIn } from "../support/command.js";
import { addPet } from "../support/client.js";

/** strace may be missing, or not be allowed to trace. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

const program = useBuiltPetstore();

// Without strace, the tests below are skipped. In CI, this test fails instead.
it.skipIf(canTrace || process.env["CI"] === undefined)("runs in CI", () => {
  expect.fail("strace cannot trace here: run `apt-get update && apt-get install -y strace`.");
});

describe.skipIf(!canTrace)("petstore", () => {
  it("syncs an export before it has its name", async () => {
    const database = newDatabase();
    await issueUnlimitedKey(database);
    const folder = realpathSync(dirname(database));
    const trace = join(folder, "trace");
    const calls = ["-f", "--seccomp-bpf", "-y", "-e", "trace=fsync,rename,renameat,renameat2"];
    const command = [process.execPath, program(), "pets", "export", join(folder, "pets.ndjson")];
    const args = [...calls, "-o", trace, ...command, "--database", database];
    expect(spawnSync("strace", args).status).toBe(0);
    const steps = readFileSync(trace, "utf8").match(/fsync\(\d+<[^>]*>|rename\w*\(/g);
    expect(steps).toEqual([
      expect.stringMatching(/^fsync\(\d+<.*pets\.ndjson\..*\.unfinished>$/),
      expect.stringMatching(/^rename/),
    ]);
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
    expect(await petsIn(database)).toEqual([expect.stringContaining('"name":"kept"')]);
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
