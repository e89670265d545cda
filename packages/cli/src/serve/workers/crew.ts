import type { Worker } from "node:cluster";

/** The workers that run, until none is left after they were dismissed. */
export interface Crew {
  /** Whether they were told to end. */
  readonly isDismissed: boolean;
  /** Whether any of them serves. */
  readonly isServing: boolean;
  join(worker: Worker): void;
  /** A worker has begun to serve. */
  serve(worker: Worker): void;
  /** A worker has ended; what was wrong with it concerns the crew once that is dismissed. */
  leave(worker: Worker, problem: string | undefined): void;
  /** Lets the workers finish what is under way, and ends those that have not at the deadline. */
  dismiss(problem?: string): void;
  /** Resolves when the last one has left after the dismissal, to what went wrong first, if anything. */
  readonly ended: Promise<string | undefined>;
}

/** A crew of nobody. After its dismissal workers have `deadline` milliseconds. */
export function createCrew(deadline: number): Crew {
  const running = new Set<Worker>();
  const serving = new Set<Worker>();
  let problem: string | undefined;
  let cut: NodeJS.Timeout | undefined;
  let resolveEnded: (problem: string | undefined) => void = () => undefined;
  const ended = new Promise<string | undefined>((resolve) => (resolveEnded = resolve));

  const endWhenEmpty = (): void => {
    if (running.size > 0) return;
    clearTimeout(cut);
    resolveEnded(problem);
  };

  return {
    get isDismissed() {
      return cut !== undefined;
    },
    get isServing() {
      return serving.size > 0;
    },
    join: (worker) => void running.add(worker),
    serve: (worker) => void serving.add(worker),
    leave: (worker, itsProblem) => {
      running.delete(worker);
      serving.delete(worker);
      if (cut === undefined) return;
      problem ??= itsProblem;
      endWhenEmpty();
    },
    dismiss: (reason) => {
      problem ??= reason;
      if (cut !== undefined) return;
      for (const { process } of running) process.kill("SIGTERM");
      cut = setTimeout(() => {
        problem ??= "a worker had not finished at the deadline";
        for (const { process } of running) process.kill("SIGKILL");
      }, deadline);
      endWhenEmpty();
    },
    ended,
  };
}
