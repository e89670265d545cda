import type { Worker } from "node:cluster";
import type { Clock } from "@petstore/core";
import { DRAIN_DEADLINE } from "../shut-down.js";
import { createCrew } from "./crew.js";
import { restart } from "./restart.js";
import { startWorker } from "./start-worker.js";

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

/** How long a worker may take to close its store, in milliseconds: another process may hold a lock. */
const CLOSING = 8_000;

/** When workers that were told to stop are ended, in milliseconds: not before they had all their time. */
const DEADLINE = DRAIN_DEADLINE + CLOSING;

/**
 * Starts so many workers, each of which runs this very command, and replaces those that end by
 * themselves. When one cannot start at first, or ends again and again while no other serves, all are
 * stopped.
 */
export function supervise(
  count: number,
  clock: Clock,
  { onListening, onRemark }: Supervision,
): Workers {
  const crew = createCrew(DEADLINE);
  const listening = new Set<number>();
  const pauses = new Set<NodeJS.Timeout>();

  const stop = (problem?: string): void => {
    for (const pause of pauses) clearTimeout(pause);
    crew.dismiss(problem);
  };

  const start = (place: number, deaths: readonly number[]): void => {
    const worker = startWorker({
      onListening: (url) => greet(place, worker, url),
      onEnd: ({ problem, how }) => {
        crew.leave(worker, problem);
        if (crew.isDismissed) return;
        if (problem !== undefined && listening.size < count) stop(problem);
        else replace(place, deaths, problem ?? how);
      },
    });
    crew.join(worker);
  };

  const greet = (place: number, worker: Worker, url: string): void => {
    crew.serve(worker);
    if (listening.size < count && listening.add(place).size === count) onListening(url);
  };

  const replace = (place: number, deaths: readonly number[], reason: string): void => {
    const next = restart(deaths, clock.now());
    if (next.isHopeless && !crew.isServing) {
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

  for (let place = 0; place < count; place += 1) start(place, []);
  return { stop: () => stop(), ended: crew.ended };
}
