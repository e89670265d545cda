import cluster, { type Worker } from "node:cluster";
import type { Clock } from "@petstore/core";
import { restart } from "./restart.js";
import { isWorkerMessage } from "./worker-message.js";

/** What is told of the workers. */
export interface Supervision {
  /** All workers listen, for the first time, at this address. */
  readonly onListening: (url: string) => void;
  /** A line for a person. */
  readonly onRemark: (line: string) => void;
}

/** Workers that are kept alive. */
export interface Workers {
  /** Lets the workers finish what is under way, and ends those that have not at the deadline. */
  stop(): void;
  /** Resolves when no worker is left, to what went wrong, if anything. */
  readonly ended: Promise<string | undefined>;
}

/** When workers that were told to stop are ended, in milliseconds: a little after their own deadline. */
const DEADLINE = 12_000;

/**
 * Starts so many workers, each of which runs this very command, and replaces those that end by
 * themselves. When one cannot start, or ends again and again, all are stopped.
 */
export function supervise(
  count: number,
  clock: Clock,
  { onListening, onRemark }: Supervision,
): Workers {
  const running = new Set<Worker>();
  const listening = new Set<number>();
  const pauses = new Set<NodeJS.Timeout>();
  let problem: string | undefined;
  let cut: NodeJS.Timeout | undefined;
  let resolveEnded: (problem: string | undefined) => void = () => undefined;

  const start = (place: number, deaths: readonly number[]): void => {
    const worker = cluster.fork();
    let said: string | undefined;
    running.add(worker);
    worker.on("message", (message: unknown) => {
      if (!isWorkerMessage(message)) return;
      if (message.kind === "problem") said = message.problem;
      else greet(place, message.url);
    });
    worker.on("exit", (code, signal) => {
      running.delete(worker);
      if (cut !== undefined) finish(said);
      else if (said !== undefined && listening.size < count) stop(said);
      else replace(place, deaths, said ?? `it ended with ${signal || `exit code ${code}`}`);
    });
  };

  const greet = (place: number, url: string): void => {
    if (listening.size === count) return;
    listening.add(place);
    if (listening.size === count) onListening(url);
  };

  const replace = (place: number, deaths: readonly number[], reason: string): void => {
    const next = restart(deaths, clock.now());
    if (next.kind === "give_up") {
      stop(`a worker ends again and again: ${reason}`);
      return;
    }
    onRemark(`a worker is replaced: ${reason}`);
    const pause = setTimeout(() => {
      pauses.delete(pause);
      start(place, next.deaths);
    }, next.after);
    pauses.add(pause);
  };

  const stop = (reason?: string): void => {
    problem ??= reason;
    if (cut !== undefined) return;
    for (const pause of pauses) clearTimeout(pause);
    for (const { process } of running) process.kill("SIGTERM");
    cut = setTimeout(() => {
      problem ??= "a worker had not finished at the deadline";
      for (const { process } of running) process.kill("SIGKILL");
    }, DEADLINE);
    finish();
  };

  const finish = (reason?: string): void => {
    problem ??= reason;
    if (running.size > 0) return;
    clearTimeout(cut);
    resolveEnded(problem);
  };

  // Each worker accepts for itself: Node's round robin loses the connections that it has handed to a
  // worker which dies before it takes them, and their clients wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const ended = new Promise<string | undefined>((resolve) => (resolveEnded = resolve));
  for (let place = 0; place < count; place += 1) start(place, []);
  return { stop: () => stop(), ended };
}
