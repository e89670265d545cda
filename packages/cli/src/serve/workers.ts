import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { STOP_SIGNALS } from "../stop-signal.js";
import type { ReportError } from "../terminal.js";
import type { Snapshot, Sums } from "./metrics.js";
import type { ServeOptions } from "./serve-options.js";
import { DRAIN_SECONDS } from "./server.js";

type WorkerMessage =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "metrics"; readonly snapshot: Snapshot };

/** How long a worker may take to close its store, whose file may be locked, in milliseconds. */
const CLOSE_TIMEOUT = 8_000;

const MINUTE = 60_000;
const FIRST_BACKOFF = 100;
const LONGEST_BACKOFF = 10_000;
/** If a worker ends more often than this in a minute while no other serves, all workers are stopped. */
const MAX_ENDS_PER_MINUTE = 5;

interface WorkersOptions extends Pick<ServeOptions, "shutdownDelay"> {
  readonly count: number;
  readonly clock: Clock;
  readonly report: ReportError;
  /** Called once, when all workers accept connections. */
  readonly onListening: (url: string) => void;
  readonly sums: Sums | undefined;
}

interface Group extends WorkersOptions {
  readonly serving: Set<Worker>;
  /** Those of the `count` workers that have accepted connections at least once. */
  readonly listened: Set<number>;
  readonly stopping: AbortController;
  problem?: string | undefined;
  port?: number;
  /** Whether workers are told this port: the system would choose another one when none holds it any more. */
  isPortTold?: boolean;
}

/**
 * Starts workers on one port, which run the same command as this process. A worker that ends by itself is restarted.
 * All are stopped when one cannot start at first, or keeps ending while no other serves. `ended` resolves when the last
 * one has ended; `Err` is the first problem of any worker.
 */
export function startWorkers(options: WorkersOptions) {
  const stopping = new AbortController();
  const group: Group = { ...options, serving: new Set(), listened: new Set(), stopping };
  const all = Array.from({ length: options.count }, (_, index) => keepServing(group, index));
  const ended = Promise.all(all).then((): Result<void, string> =>
    group.problem === undefined ? ok() : err(group.problem),
  );
  return { stop: () => stop(group), ended };
}

async function keepServing(group: Group, index: number): Promise<void> {
  const { count, clock, report } = group;
  const { signal } = group.stopping;
  const isStopping = (): boolean => signal.aborted;
  let ends: readonly number[] = [];
  while (!isStopping()) {
    const { how, isInOrder, problem } = await runWorker(group, index).catch(notStarted);
    const cannotStart = problem !== undefined && group.listened.size < count;
    if (isStopping() || cannotStart) {
      stop(group, problem ?? (isInOrder ? undefined : `a worker did not finish: ${how}`));
      return;
    }
    const now = clock.now();
    ends = [...ends.filter((end) => now - end < MINUTE), now];
    if (ends.length > MAX_ENDS_PER_MINUTE && group.serving.size === 0) {
      stop(group, `a worker keeps ending: ${problem ?? how}`);
      return;
    }
    report(`a worker is restarted: ${problem ?? how}`);
    const backoff = Math.min(FIRST_BACKOFF * 2 ** (ends.length - 1), LONGEST_BACKOFF);
    await setTimeout(backoff, undefined, { signal }).catch(() => undefined);
  }
}

/** What a worker needs may be missing for a moment, such as memory. */
function notStarted(error: unknown) {
  return { how: `it did not start: ${String(error)}`, isInOrder: true, problem: undefined };
}

/** Lets all workers finish their requests without restarting them, and kills those that take too long. */
function stop(group: Group, problem?: string): void {
  group.problem ??= problem;
  if (group.stopping.signal.aborted) return;
  group.stopping.abort();
  for (const worker of workers()) worker?.process.kill("SIGTERM");
  const kill = (): void => {
    group.problem ??= "a worker did not finish in time";
    for (const worker of workers()) worker?.process.kill("SIGKILL");
  };
  const timeout = (group.shutdownDelay + DRAIN_SECONDS) * 1_000 + CLOSE_TIMEOUT;
  void setTimeout(timeout, undefined, { ref: false }).then(kill);
}

const workers = () => Object.values(cluster.workers ?? {});

/** Resolves when the worker has ended: to how it ended, and to the problem that it reported, if any. */
async function runWorker(group: Group, index: number) {
  const { listened, serving, sums } = group;
  // Each worker accepts its own connections. With Node's round robin, connections that were passed to a
  // worker but not yet accepted would hang forever when it dies.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  group.isPortTold ||= group.port !== undefined && workers().length === 0;
  const worker = cluster.fork(group.isPortTold ? { [PORT]: String(group.port) } : {});
  let problem: string | undefined;
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "problem") problem = message.problem;
    else if (message.kind === "metrics") sums?.receive(worker.id, message.snapshot);
    else {
      serving.add(worker);
      group.port ??= Number(new URL(message.url).port);
      const isLast = !listened.has(index) && listened.add(index).size === group.count;
      if (isLast) group.onListening(message.url);
    }
  });
  const end = await new Promise<{ how: string; isInOrder: boolean }>((resolve, reject) => {
    // Also emitted when a message cannot be sent to a worker that is ending.
    worker.on("error", (error) => {
      if (worker.process.pid === undefined) reject(error);
    });
    worker.on("exit", (code, signal) => {
      // A signal may come before the worker listens for it.
      const isInOrder = signal ? STOP_SIGNALS.some((name) => name === signal) : code === 0;
      resolve({ how: `it ended with ${signal || `exit code ${code}`}`, isInOrder });
    });
  });
  // Until then, its messages may still arrive.
  if (worker.isConnected()) await once(worker, "disconnect");
  serving.delete(worker);
  sums?.retire(worker.id);
  return { ...end, problem };
}

/** The variable in which a worker is told its port. No Service of Kubernetes sets a variable that ends like this. */
const PORT = "PETSTORE_WORKERS_LISTEN_AT";

/** Returns the port that this worker was told; otherwise, the chosen one. */
export function portOfWorkers(chosen: number): number {
  const told = process.env[PORT];
  return cluster.isWorker && told !== undefined ? Number(told) : chosen;
}

/** How often a worker sends its metrics, in milliseconds. */
const METRICS_INTERVAL = 1_000;

/** Serves, and sends the URL, the metrics and the problem, if any, to the process that has started this worker. */
export async function runAsWorker(
  serve: (onListening: (url: string) => void) => Promise<Result<void, string>>,
  snapshot: (() => Promise<Snapshot>) | undefined,
): Promise<void> {
  const send = (message: WorkerMessage): Promise<unknown> =>
    new Promise((resolve) => cluster.worker?.send(message, resolve));
  const sendMetrics = async (): Promise<void> => {
    if (snapshot !== undefined) await send({ kind: "metrics", snapshot: await snapshot() });
  };
  const interval = setInterval(() => void sendMetrics(), METRICS_INTERVAL);
  const served = await serve((url) => void send({ kind: "listening", url }));
  clearInterval(interval);
  await sendMetrics();
  if (served.isErr()) await send({ kind: "problem", problem: served.error });
  cluster.worker?.disconnect();
}
