import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { useBuiltPetstore } from "./support/built-petstore.js";
import { issueKey, newDatabase, petstore } from "./support/command.js";
import { freePort } from "../../../scripts/ports.js";

/** Every write to it fails, as on a full disk. */
const FULL = "/dev/full";
const hasFull = existsSync(FULL);
const program = useBuiltPetstore();

/** Runs the command with outputs that are full. */
function startFull(stdio: readonly ("full" | "pipe")[], ...args: readonly string[]): ChildProcess {
  const full = openSync(FULL, "w");
  const outputs = stdio.map((each) => (each === "full" ? full : each));
  const child = spawn(process.execPath, [program(), ...args], { stdio: ["ignore", ...outputs] });
  closeSync(full);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function ended(child: ChildProcess): Promise<unknown> {
  const [code, signal] = (await once(child, "exit")) as unknown[];
  return code ?? signal;
}

/** The exit code and the output of a process. */
async function reported(child: ChildProcess): Promise<{ code: unknown; error: string }> {
  let error = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (error += part));
  const [code] = (await once(child, "close")) as unknown[];
  return { code, error };
}

async function isHealthy(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return response?.ok ?? false;
}

describe.skipIf(!hasFull)("with outputs that are full", () => {
  it("a server keeps serving, and shuts down", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--database", newDatabase(), "--log"];
    const server = startFull(["full", "full"], "serve", ...args);
    const exit = ended(server);
    await expect.poll(() => isHealthy(port)).toBe(true);
    // The first line of a log may be lost without an error.
    expect(await Promise.all([isHealthy(port), isHealthy(port)])).toEqual([true, true]);
    server.kill("SIGTERM");
    expect(await exit).toBe(0);
  });

  it("a supervisor replaces its workers, one after the other, and shuts down", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--database", newDatabase(), "--log", "--workers", "2"];
    const server = startFull(["full", "full"], "serve", ...args);
    const exit = ended(server);
    const children = `/proc/${server.pid}/task/${server.pid}/children`;
    const workers = (): readonly string[] =>
      readFileSync(children, "utf8").trim().split(" ").filter(Boolean);
    for (let count = 0; count < 2; count += 1) {
      await expect.poll(workers).toHaveLength(2);
      const [worker] = workers();
      process.kill(Number(worker), "SIGKILL");
      await expect.poll(workers).not.toContain(worker);
    }
    await expect.poll(() => isHealthy(port)).toBe(true);
    expect(await Promise.all([isHealthy(port), isHealthy(port)])).toEqual([true, true]);
    server.kill("SIGTERM");
    expect(await exit).toBe(0);
  });

  it.each([["issue", "--plan", "free"], ["list"]])(
    "keys %s fails with the cause",
    async (...args) => {
      const database = newDatabase();
      await issueKey(database);
      const child = startFull(["full", "pipe"], "keys", ...args, "--json", "--database", database);
      expect(await reported(child)).toEqual({
        code: 1,
        error: "petstore: done, but the result could not be printed: the disk is full\n",
      });
    },
  );

  it("help fails with the cause", async () => {
    const child = startFull(["full", "pipe"], "--help");
    expect(await reported(child)).toEqual({
      code: 1,
      error: "petstore: the output could not be printed: the disk is full\n",
    });
  });
});

it("a server whose log is not read keeps serving, and shuts down", async () => {
  const port = await freePort();
  const args = ["serve", "--port", String(port), "--database", ":memory:", "--log"];
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const server = spawn(process.execPath, [program(), ...args], { stdio: [...stdio] });
  onTestFinished(() => void server.kill("SIGKILL"));
  const exit = ended(server);
  await expect.poll(() => isHealthy(port)).toBe(true);
  const socket = connect(port, "127.0.0.1");
  // The lines of these are longer than a pipe takes.
  socket.end("GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000));
  expect((await text(socket)).match(/HTTP\/1\.1 4/g)).toHaveLength(2_000);
  expect(await isHealthy(port)).toBe(true);
  server.kill("SIGTERM");
  expect(await exit).toBe(0);
});

it("an import whose outputs are closed imports every valid line", async () => {
  const database = newDatabase();
  const file = join(dirname(database), "pets.ndjson");
  const lines = Array.from({ length: 5_000 }, (_, index) =>
    index % 10 === 0 ? "bad\n" : '{"name":"Rex","categoryId":1}\n',
  );
  writeFileSync(file, lines.join(""));
  const args = ["pets", "import", file, "--database", database];
  const child = spawn(process.execPath, [program(), ...args]);
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await ended(child)).toBe(1);
  const { out } = await petstore("pets", "export", "--database", database);
  expect(out.split("\n")).toHaveLength(4_500);
});

const hasBash = spawnSync("bash", ["-c", "ulimit -f 1000"]).status === 0;

it.skipIf(!hasBash)("writes a rejected line completely or not at all", async () => {
  const database = newDatabase();
  const rejects = join(dirname(database), "rejects.csv");
  const long = `Rex,${"x".repeat(600_000)}`;
  const input = join(dirname(database), "pets.csv");
  writeFileSync(input, ["name,categoryId", "Rex,1", "Rex,x", long, long, ""].join("\n"));
  const args = ["pets", "import", input, "--rejects", rejects, "--database", database];
  // In blocks of 1,024 bytes: as on a full disk, a part is written before it fails.
  const limited = ["-c", 'ulimit -f 1000; exec "$@"', "bash", process.execPath, program()];
  const child = spawn("bash", [...limited, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const { code, error } = await reported(child);
  expect({ code, error: error.slice(-300) }).toMatchObject({
    code: 1,
    error: expect.stringMatching(/cannot write rejected lines to .*\n$/) as string,
  });
  const whole = ["name,categoryId", "Rex,x", long, ""].join("\n");
  expect(readFileSync(rejects, "utf8") === whole).toBe(true);
});
