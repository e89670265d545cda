import cluster from "node:cluster";
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import timers from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { startWorkers } from "../src/serve/workers.js";
import { newDatabase } from "./support/command.js";

/** A worker that says what it is told to say, and ends if it is told an exit code; at SIGTERM, unless it shall stay. */
const PUPPET = `process.on("message", ({ say, exitCode, stays }) => {
  if (stays) process.on("SIGTERM", () => undefined);
  process.send(say, () => exitCode !== undefined && process.exit(exitCode));
});`;

const METRICS = { kind: "metrics", snapshot: [] };
const LISTENING = { kind: "listening", url: "http://127.0.0.1:17/v1" };

/** Starts workers that do what a test tells them. Pauses take no time, but those before a kill never end. */
function startPuppets(count: number, shutdownDelay = 0) {
  const exec = join(dirname(newDatabase()), "worker.cjs");
  writeFileSync(exec, PUPPET);
  cluster.setupPrimary({ exec, args: [], execArgv: [] });
  const fork = vi.spyOn(cluster, "fork");
  const pauses: number[] = [];
  let kill = (): void => undefined;
  const killing = new Promise<void>((resolve) => (kill = resolve));
  vi.spyOn(timers, "setTimeout").mockImplementation(async (pause = 0) => {
    pauses.push(pause);
    if (pause > 10_000) await killing;
    return undefined;
  });
  syncBuiltinESMExports();
  const [time, reports, urls] = [{ now: 0 }, [] as string[], [] as string[]];
  const sums = { receive: vi.fn(), retire: vi.fn(), text: () => Promise.resolve("") };
  const workers = startWorkers({
    ...{ count, shutdownDelay, sums, clock: { now: () => time.now } },
    report: (message) => void reports.push(message),
    onListening: (url) => void urls.push(url),
  });
  onTestFinished(async () => {
    workers.stop();
    kill();
    await workers.ended;
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const tell = (number: number, order: object) => {
    const worker = fork.mock.results[number - 1]?.value as ReturnType<typeof cluster.fork>;
    worker.send({ say: METRICS, ...order });
  };
  /** Lets a worker end, and waits until as many have been started. */
  const end = async (number: number, order: object, started: number) => {
    tell(number, order);
    await expect.poll(() => fork.mock.calls.length).toBe(started);
  };
  return { fork, pauses, kill, time, reports, urls, sums, workers, tell, end };
}

it("a worker is restarted after a pause that doubles, up to ten seconds and for a minute, while another one serves", async () => {
  const { fork, pauses, time, reports, urls, sums, workers, tell, end } = startPuppets(2);
  tell(1, { say: LISTENING });
  tell(1, { say: LISTENING });
  tell(1, {});
  await expect.poll(() => sums.receive.mock.calls.length).toBe(1);
  expect(urls).toEqual([]);
  tell(2, { say: LISTENING });
  await expect.poll(() => urls).toEqual([LISTENING.url]);
  for (let worker = 2; worker <= 10; worker += 1) await end(worker, { exitCode: 3 }, worker + 1);
  time.now += 59_999;
  await end(11, { exitCode: 3 }, 12);
  time.now += 60_000;
  await end(12, { say: { kind: "problem", problem: "no disk" }, exitCode: 0 }, 13);
  expect(reports).toEqual([
    ...Array<string>(10).fill("a worker is restarted: it ended with exit code 3"),
    "a worker is restarted: no disk",
  ]);
  const doubled = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000];
  expect(pauses).toEqual([...doubled, 100]);
  // The other one holds the port.
  expect(new Set(fork.mock.calls.map(([env]) => JSON.stringify(env)))).toEqual(new Set(["{}"]));
  const [first, second] = fork.mock.results.map(({ value }) => (value as { id: number }).id);
  expect([sums.receive.mock.calls[0], sums.retire.mock.calls[0]]).toEqual([[first, []], [second]]);
  workers.stop();
  expect((await workers.ended).isOk()).toBe(true);
  expect(urls).toHaveLength(1);
});

it("a worker that ends for the sixth time in a minute while no other serves stops all; the port stays", async () => {
  const { fork, time, reports, urls, workers, tell, end } = startPuppets(1);
  tell(1, { say: LISTENING });
  await expect.poll(() => urls).toHaveLength(1);
  const problem = { say: { kind: "problem", problem: "no disk" }, exitCode: 0 };
  for (let worker = 1; worker <= 6; worker += 1) {
    await end(worker, problem, worker + 1);
    time.now += 31_000;
  }
  for (let worker = 7; worker <= 10; worker += 1) await end(worker, problem, worker + 1);
  process.kill((fork.mock.results[10]?.value as { process: { pid: number } }).process.pid);
  const error = "a worker keeps ending: it ended with SIGTERM";
  expect((await workers.ended)._unsafeUnwrapErr()).toBe(error);
  expect(reports).toEqual(Array(10).fill("a worker is restarted: no disk"));
  const told = { PETSTORE_WORKERS_LISTEN_AT: "17" };
  expect(fork.mock.calls).toEqual([[{}], ...Array.from({ length: 10 }, () => [told])]);
});

it("a worker that cannot start at first stops all, and its problem is the first one", async () => {
  const { reports, urls, workers, tell } = startPuppets(2);
  tell(1, { say: LISTENING });
  tell(2, { say: { kind: "problem", problem: "the port is in use" }, exitCode: 1 });
  expect((await workers.ended)._unsafeUnwrapErr()).toBe("the port is in use");
  expect([reports, urls]).toEqual([[], []]);
});

it("workers that do not end in time after they were told to stop are killed", async () => {
  const { pauses, kill, sums, workers, tell } = startPuppets(2, 3);
  for (const worker of [1, 2]) tell(worker, { stays: true });
  await expect.poll(() => sums.receive.mock.calls.length).toBe(2);
  workers.stop();
  workers.stop();
  expect(pauses).toEqual([3_000 + 10_000 + 8_000]);
  kill();
  expect((await workers.ended)._unsafeUnwrapErr()).toBe("a worker did not finish in time");
});
