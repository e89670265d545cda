import cluster from "node:cluster";
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import timers from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { startWorkers } from "../src/serve/workers.js";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { newDatabase } from "./support/command.js";

/** A worker that says what it is told to say, and ends if it is told an exit code; at SIGTERM, unless it shall stay. */
const PUPPET = `process.on("message", ({ say, exitCode, stays }) => {
  if (stays) process.on("SIGTERM", () => undefined);
  process.send(say, () => exitCode !== undefined && process.exit(exitCode));
});`;

const bundled = useBundled("workers", ["packages/cli/src/serve/workers.ts"]);

/** A worker that runs as those of the command do, until it is told how its server ends. Its seconds are short. */
const real = () => `const cluster = require("node:cluster");
const { setInterval } = globalThis;
globalThis.setInterval = (work, after) => after === 1_000 && setInterval(work, 1);
const told = new Promise((resolve) => process.once("message", ({ say }) => resolve(say)));
import(${JSON.stringify(bundled())}).then(({ portOfWorkers, runAsWorker }) => {
  const [chosen, snapshot] = [1_000 + cluster.worker.id, []];
  const port = portOfWorkers(chosen);
  const serve = async (onListening) => {
    onListening("http://127.0.0.1:" + port + "/v1");
    snapshot.push(await told);
    return { isErr: () => snapshot[0] !== "ended", error: snapshot[0] + port };
  };
  return runAsWorker(serve, port === chosen ? async () => snapshot : undefined);
});`;

const METRICS = { kind: "metrics", snapshot: [] };
const LISTENING = { kind: "listening", url: "http://127.0.0.1:17/v1" };

/** Starts workers that do what a test tells them. Pauses take no time, but those before a kill never end. */
function startPuppets(count: number, { program = PUPPET, hasSums = true, shutdownDelay = 0 } = {}) {
  const exec = join(dirname(newDatabase()), "worker.cjs");
  writeFileSync(exec, program);
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
  const sums = { receive: vi.fn(), retire: vi.fn(), metrics: () => Promise.resolve("") };
  const workers = startWorkers({
    ...{ count, shutdownDelay, clock: { now: () => time.now } },
    sums: hasSums ? sums : undefined,
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
  const worker = (number: number) =>
    fork.mock.results[number - 1]?.value as ReturnType<typeof cluster.fork>;
  const tell = (number: number, order: object) => worker(number).send({ say: METRICS, ...order });
  /** Lets a worker end, and waits until as many have been started. */
  const end = async (number: number, order: object, started: number) => {
    tell(number, order);
    await expect.poll(() => fork.mock.calls.length).toBe(started);
  };
  return { fork, pauses, kill, time, reports, urls, sums, workers, worker, tell, end };
}

it("a worker is restarted after a pause that doubles, up to ten seconds and for a minute, while another one serves", async () => {
  const { fork, pauses, time, reports, urls, sums, workers, worker, tell, end } = startPuppets(2);
  tell(1, { say: LISTENING });
  tell(1, { say: LISTENING });
  tell(1, {});
  await expect.poll(() => sums.receive.mock.calls.length).toBe(1);
  expect(urls).toEqual([]);
  tell(2, { say: LISTENING });
  await expect.poll(() => urls).toEqual([LISTENING.url]);
  for (let count = 2; count <= 10; count += 1) await end(count, { exitCode: 3 }, count + 1);
  time.now += 59_999;
  await end(11, { exitCode: 3 }, 12);
  time.now += 60_000;
  worker(12).emit("exit", 3, "");
  await end(12, { say: { kind: "problem", problem: "no disk" }, exitCode: 0 }, 13);
  expect(reports).toEqual([
    ...Array<string>(10).fill("a worker is restarted: it ended with exit code 3"),
    "a worker is restarted: no disk",
  ]);
  const doubled = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000];
  expect([pauses, cluster.schedulingPolicy]).toEqual([[...doubled, 100], cluster.SCHED_NONE]);
  expect(new Set(fork.mock.calls.map(([env]) => JSON.stringify(env)))).toEqual(new Set(["{}"]));
  expect(sums.receive.mock.calls[0]).toEqual([worker(1).id, []]);
  expect(sums.retire.mock.calls[0]).toEqual([worker(2).id]);
  workers.stop();
  expect((await workers.ended).isOk()).toBe(true);
  expect(urls).toHaveLength(1);
});

it("a worker that ends for the sixth time in a minute while no other serves stops all; the port stays", async () => {
  const { fork, time, reports, urls, workers, worker, tell, end } = startPuppets(1, {
    hasSums: false,
  });
  tell(1, {});
  tell(1, { say: LISTENING });
  await expect.poll(() => urls).toHaveLength(1);
  const problem = { say: { kind: "problem", problem: "no disk" }, exitCode: 0 };
  for (let count = 1; count <= 10; count += 1) {
    await end(count, problem, count + 1);
    if (count <= 6) time.now += 31_000;
  }
  worker(11).process.kill();
  const error = "a worker keeps ending: it ended with SIGTERM";
  expect((await workers.ended)._unsafeUnwrapErr()).toBe(error);
  expect(reports).toEqual(Array(10).fill("a worker is restarted: no disk"));
  const told = { PETSTORE_WORKERS_LISTEN_AT: "17" };
  expect(fork.mock.calls).toEqual([[{}], ...Array.from({ length: 10 }, () => [told])]);
});

it("a worker that cannot start at first stops all, and its problem is the first one", async () => {
  const { reports, urls, workers, tell, end } = startPuppets(2);
  tell(1, { say: LISTENING });
  await end(2, { exitCode: 1 }, 3);
  tell(3, { say: { kind: "problem", problem: "the port is in use" }, exitCode: 1 });
  expect((await workers.ended)._unsafeUnwrapErr()).toBe("the port is in use");
  expect([reports, urls]).toEqual([["a worker is restarted: it ended with exit code 1"], []]);
});

it("a worker that the system cannot start is started again", async () => {
  const { execPath } = process;
  const { workers, tell } = startPuppets(1);
  process.execPath = "/nowhere";
  onTestFinished(() => void (process.execPath = execPath));
  tell(1, { say: LISTENING, exitCode: 1 });
  const error = "a worker keeps ending: it did not start: Error: spawn /nowhere ENOENT";
  expect((await workers.ended)._unsafeUnwrapErr()).toBe(error);
});

it.each([" in time", ": it ended with SIGKILL"])("workers that do not finish%s", async (how) => {
  const { pauses, kill, sums, workers, worker, tell } = startPuppets(2, { shutdownDelay: 3 });
  for (const number of [1, 2]) tell(number, { stays: true });
  await expect.poll(() => sums.receive.mock.calls.length).toBe(2);
  workers.stop();
  workers.stop();
  expect(pauses).toEqual([3_000 + 10_000 + 8_000]);
  if (how === " in time") kill();
  else for (const number of [1, 2]) worker(number).process.kill("SIGKILL");
  expect((await workers.ended)._unsafeUnwrapErr()).toBe(`a worker did not finish${how}`);
});

it("a worker sends what it counts each second and at its end, why it ended, and listens where it is told", async () => {
  const { reports, urls, sums, workers, worker, tell, end } = startPuppets(1, { program: real() });
  await expect.poll(() => sums.receive.mock.calls).toContainEqual([worker(1).id, []]);
  const port = 1_000 + worker(1).id;
  expect(urls).toEqual([`http://127.0.0.1:${port}/v1`]);
  await end(1, { say: "no disk at " }, 2);
  await end(2, { say: "full at " }, 3);
  tell(3, { say: "ended" });
  await expect.poll(() => reports).toHaveLength(3);
  const reasons = [`no disk at ${port}`, `full at ${port}`, "it ended with exit code 0"];
  expect(reports).toEqual(reasons.map((reason) => `a worker is restarted: ${reason}`));
  expect(sums.receive.mock.lastCall).toEqual([worker(1).id, ["no disk at "]]);
  workers.stop();
});
