import { Agent } from "node:http";
import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import {
  hurried,
  startBuilt,
  startServer,
  useBuiltPetstore,
  workersOf,
  type BuiltServer,
} from "./support/built-petstore.js";
import { issueUnlimitedKey, newDatabase, petstore } from "./support/command.js";
import { addPet, send, startWriters } from "./support/client.js";

const program = useBuiltPetstore();

/** Starts a server whose workers are soon restarted. */
const startHurried = (database: string): Promise<BuiltServer> =>
  startBuilt(
    [process.execPath, ...hurried(20), program()],
    ...["--workers", "2", "--database", database],
  );

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
    // A connection for each request, so that they go to both workers.
    const responses = await Promise.all(
      Array.from({ length: 90 }, () => send(`${server.url}/pets`, new Agent(), secret)),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
    // The workers got the other options too.
    for (const client of ["203.0.113.7", "203.0.113.8"]) {
      const headers = { "x-forwarded-for": client };
      const { headers: received } = await fetch(`${server.url}/pets`, { headers });
      expect(received.get("x-ratelimit-remaining")).toBe("59");
    }
    expect(await server.end("SIGTERM")).toBe(0);
    for (const worker of workers) expect(isAlive(worker)).toBe(false);
    expect(server.output().match(/finishing/g)).toHaveLength(1);
    expect(server.output().match(/pet_live_/g)).toHaveLength(1);
  });

  it("keeps replacing a worker that dies, loses no acknowledged pet, and leaves no worker when it is killed", async () => {
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

    while (restarts() < 6) await killOthers();
    expect((await addPet(server.url, new Agent(), secret, "Rex")).status).toBe(201);
    expect(isAlive(spared)).toBe(true);
    const workers = workersOf(server);
    await server.end("SIGKILL");
    for (const worker of workers) await expect.poll(() => isAlive(worker)).toBe(false);

    const exported = (await petstore("pets", "export", "--database", database)).out;
    const stored = exported.split("\n").map((line) => JSON.parse(line) as { name: string });
    const names = new Set(stored.map(({ name }) => name));
    expect([...created.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  it("ends with exit code 1 and a line that says why when all workers keep dying", async () => {
    const server = await startHurried(newDatabase());
    const over = new AbortController();
    void server.ended.then(() => over.abort());
    while (!over.signal.aborted) {
      workersOf(server).forEach(kill);
      await setTimeout(20);
    }
    expect(await server.ended).toBe(1);
    expect(server.output()).toContain("petstore: a worker keeps ending: it ended with SIGKILL");
    expect(workersOf(server)).toEqual([]);
  });

  it("says in one line that the port is in use, with exit code 1", async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    const port = String(await portOf(other));
    const options = ["--workers", "2", "--port", port, "--database", newDatabase()];
    await expect(startServer(...options)).rejects.toThrow(
      new Error(
        `ended with 1: petstore: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`,
      ),
    );
  });
});

/** Kills a process, unless it ends just now. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
