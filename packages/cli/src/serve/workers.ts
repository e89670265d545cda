import cluster, { type Worker } from "node:cluster";
import type { Clock } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import type { ReportError } from "../terminal.js";
import { DRAIN_TIMEOUT } from "./stop.js";

/** Processes that serve on one port. A worker that ends by itself is restarted. */
export interface Workers {
  /** Lets the workers finish their requests and stops restarting them. */
  stop(): void;
  /** Resolves when the last worker has ended. `Err` is the first problem of any worker. */
  readonly ended: Promise<Result<void, string>>;
}

/** A message from a worker to the process that started it. */
type WorkerMessage =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "problem"; readonly problem: string };

/** How long a worker may take to close its store, whose file may be locked, in milliseconds. */
const CLOSE_TIMEOUT = 8_000;

const MINUTE = 60_000;
const FIRST_BACKOFF = 100;
const LONGEST_BACKOFF = 10_000;
/** If a worker ends more often than this in a minute while no other serves, all workers are stopped. */
const MAX_ENDS_PER_MINUTE = 5;

/**
 * Starts workers, which run the same command as this process. All are stopped when one of them cannot
 * start at first, or keeps ending while no other serves. `onListening` is called once, when all of them
 * accept connections.
 */
export function startWorkers(
  count: number,
  clock: Clock,
  report: ReportError,
  onListening: (url: string) => void,
): Workers {
  const running = new Set<Worker>();
  const serving = new Set<Worker>();
  const haveListened = new Set<number>();
  const backoffs = new Set<NodeJS.Timeout>();
  let isStopping = false;
  let problem: string | undefined;
  let resolveEnded: (result: Result<void, string>) => void = () => undefined;
  const ended = new Promise<Result<void, string>>((resolve) => (resolveEnded = resolve));

  const start = (index: number, ends: readonly number[]): void => {
    const worker = fork({
      onListening: (url) => {
        serving.add(worker);
        if (haveListened.size === count) return;
        if (haveListened.add(index).size === count) onListening(url);
      },
      onEnd: (how, itsProblem) => {
        running.delete(worker);
        serving.delete(worker);
        if (isStopping) stop(itsProblem);
        else if (itsProblem !== undefined && haveListened.size < count) stop(itsProblem);
        else restart(index, ends, itsProblem ?? how);
      },
    });
    running.add(worker);
  };

  /** The backoff doubles with each end within a minute. */
  const restart = (index: number, earlierEnds: readonly number[], reason: string): void => {
    const now = clock.now();
    const ends = [...earlierEnds.filter((end) => now - end < MINUTE), now];
    if (ends.length > MAX_ENDS_PER_MINUTE && serving.size === 0) {
      stop(`a worker keeps ending: ${reason}`);
      return;
    }
    report(`a worker is restarted: ${reason}`);
    const milliseconds = Math.min(FIRST_BACKOFF * 2 ** (ends.length - 1), LONGEST_BACKOFF);
    const backoff = setTimeout(() => {
      backoffs.delete(backoff);
      start(index, ends);
    }, milliseconds);
    backoffs.add(backoff);
  };

  const stop = (reason?: string): void => {
    problem ??= reason;
    if (!isStopping) {
      isStopping = true;
      for (const backoff of backoffs) clearTimeout(backoff);
      for (const worker of running) worker.process.kill("SIGTERM");
      setTimeout(() => {
        problem ??= "a worker did not finish in time";
        for (const worker of running) worker.process.kill("SIGKILL");
      }, DRAIN_TIMEOUT + CLOSE_TIMEOUT).unref();
    }
    if (running.size === 0) resolveEnded(problem === undefined ? ok() : err(problem));
  };

  for (let index = 0; index < count; index += 1) start(index, []);
  return { stop: () => stop(), ended };
}

interface WorkerEvents {
  /** Called when the worker accepts connections at this URL. */
  readonly onListening: (url: string) => void;
  /** Called when the worker has ended. `problem` is the problem that it reported, if any. */
  readonly onEnd: (how: string, problem: string | undefined) => void;
}

function fork({ onListening, onEnd }: WorkerEvents): Worker {
  // Each worker accepts its own connections. With Node's round robin, connections that were passed to a
  // worker but not yet accepted would hang forever when it dies.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const worker = cluster.fork();
  let problem: string | undefined;
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "listening") onListening(message.url);
    else problem = message.problem;
  });
  worker.on("exit", (code, signal) => {
    onEnd(`it ended with ${signal || `exit code ${code}`}`, problem);
  });
  return worker;
}

/** Whether this process is a worker. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** Serves as a worker. Sends the URL, and the problem if there is one, to the process that started it. */
export async function runAsWorker(
  serve: (onListening: (url: string) => void) => Promise<Result<void, string>>,
): Promise<void> {
  const send = (message: WorkerMessage): void => void cluster.worker?.send(message);
  const served = await serve((url) => send({ kind: "listening", url }));
  if (served.isErr()) send({ kind: "problem", problem: served.error });
  cluster.worker?.disconnect();
}
