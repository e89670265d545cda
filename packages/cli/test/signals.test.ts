import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { startBuilt, useBuiltPetstore, workersOf } from "./support/built-petstore.js";
import type { BuiltServer } from "./support/built-petstore.js";
import { newDatabase } from "./support/command.js";
import { openSocket } from "./support/raw-client.js";

const program = useBuiltPetstore();

/** A server that has a bug when it receives SIGUSR2. */
const start = (...args: readonly string[]): Promise<BuiltServer> => {
  const crash = 'process.on("SIGUSR2", () => { throw new Error("a bug"); });';
  const command = [process.execPath, "--import", `data:text/javascript,${crash}`, program()];
  return startBuilt(command, "--database", newDatabase(), ...args);
};

const healthOf = ({ url }: BuiltServer): Promise<number> =>
  fetch(new URL("/healthz", url)).then(({ status }) => status);

it.each([
  ["SIGHUP", "SIGHUP", /petstore received SIGHUP/, 0],
  ["an error that no code caught", "SIGUSR2", /Error: a bug\n\s+at .*javascript/, 70],
] as const)(
  "a server that ends because of %s says so, and lets requests finish",
  async (_, signal, logged, code) => {
    const server = await start();
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

it.each(["1", "2"].slice(0, sized(1, 2, 2)))(
  "SIGUSR1 opens no inspector, with --workers %s",
  async (workers) => {
    const server = await start("--workers", workers);
    for (const pid of [server.pid, ...workersOf(server)]) process.kill(pid, "SIGUSR1");
    for (let count = 0; count < 5; count += 1) expect(await healthOf(server)).toBe(200);
    expect(server.output()).toMatch(/^petstore listens on \S+.*\n(?: {2}.*\n)*$/);
  },
);

it.runIf(sized(0, 1, 1))("a worker that ends with such an error is replaced", async () => {
  const server = await start("--workers", "2");
  const [worker = -1] = workersOf(server);
  process.kill(worker, "SIGUSR2");
  await expect.poll(() => server.output()).toContain("exit code 70");
  expect(await healthOf(server)).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
});
