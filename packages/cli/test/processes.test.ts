import { Agent } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import { inCi, sized } from "../../../scripts/test-size.js";
import {
  hurried,
  startBuilt,
  startServer,
  useBuiltPetstore,
  workersOf,
  type BuiltServer,
} from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petsIn } from "./support/command.js";
import { addPet, count, sendAll, startWriters } from "./support/client.js";
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

it.runIf(inCi)("workers that are all restarted at once listen on the printed port", async () => {
  const server = await startCrashing("--workers", "2");
  for (let round = 0; round < 2; round += 1) {
    const before = workersOf(server);
    for (const worker of before) process.kill(worker, "SIGKILL");
    const health = () => healthOf(server).catch(() => 0);
    await expect
      .poll(() => workersOf(server).filter((pid) => !before.includes(pid)).length)
      .toBe(2);
    await expect.poll(health).toBe(200);
  }
  expect(await server.end()).toBe(0);
});

it.each(["1", "2"].slice(0, sized(1, 2, 2)))("SIGUSR1 opens no inspector (%s)", async (workers) => {
  const server = await startCrashing("--workers", workers);
  for (const pid of [server.pid, ...workersOf(server)]) process.kill(pid, "SIGUSR1");
  for (let count = 0; count < 5; count += 1) expect(await healthOf(server)).toBe(200);
  expect(server.output()).toMatch(/^petstore listens on \S+.*\n(?: {2}.*\n)*$/);
});

/** Starts a server whose workers are soon restarted. */
const startHurried = (database: string): Promise<BuiltServer> =>
  startBuilt(
    [process.execPath, ...hurried(20), program()],
    ...["--workers", "2", "--database", database],
  );

/** How many killed workers are replaced. */
const RESTARTS = sized(0, 6, 60);

describe("serve --workers", () => {
  it("serves with the given number of processes, issues the first key once, admits exactly its plan, trusts its proxy, and ends with exit code 0", async () => {
    const server = await startServer(
      ...["--workers", "2", "--database", newDatabase(), "--first-key"],
      ...["--trust-proxy", "127.0.0.1"],
    );
    expect(server.output()).toContain("with 2 workers");
    const workers = workersOf(server);
    expect(workers).toHaveLength(2);
    await expect.poll(() => server.output()).toMatch(/curl .*\n/);
    const secret = /pet_live_\w+/.exec(server.output())?.[0] ?? "";
    // Over 64 connections, so that they go to both workers.
    const replies = await sendAll([server], Array<string>(90).fill(secret));
    expect([count(replies, 200), count(replies, 429)]).toEqual([60, 30]);
    // The workers got the other options too.
    for (const client of ["203.0.113.7", "203.0.113.8"]) {
      const headers = { "x-forwarded-for": client };
      const { headers: received } = await fetch(`${server.url}/pets`, { headers });
      expect(received.get("x-ratelimit-remaining")).toBe("59");
    }
    expect([await server.end("SIGTERM"), workers.filter(isAlive)]).toEqual([0, []]);
    for (const once of [/finishing/g, /pet_live_/g])
      expect(server.output().match(once)).toHaveLength(1);
  });

  it.runIf(inCi)("replaces workers that die, loses no pet, leaves no worker behind", async () => {
    const database = newDatabase();
    const secret = await issueUnlimitedKey(database);
    const server = await startHurried(database);
    const [spared = -1] = workersOf(server);
    const restarts = () => server.output().match(/a worker is restarted: .*SIGKILL/g)?.length ?? 0;
    const killOthers = async (): Promise<void> => {
      for (const pid of workersOf(server)) if (pid !== spared) kill(pid);
      await setTimeout(20);
    };
    // A connection for each request, so that they go to both workers.
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

    const names = new Set((await petsIn(database)).map((pet) => /"name":"(.*?)"/.exec(pet)?.[1]));
    expect([...created.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  it.runIf(inCi)("says in one line that the port is in use, with exit code 1", async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    const port = String(await portOf(other));
    const options = ["--workers", "2", "--port", port, "--database", newDatabase()];
    const error = `petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`;
    await expect(startServer(...options)).rejects.toThrow(new Error(`ended with 1: ${error}`));
  });
});

/** Sends a signal to a process, 0 for none. Returns whether it runs. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

const isAlive = (pid: number): boolean => signal(pid, 0);
const kill = (pid: number): boolean => signal(pid, "SIGKILL");
