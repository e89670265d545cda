import { err, type Result } from "neverthrow";
import type { ClientClock } from "./clock.js";
import { aborted, timedOut, type AbortedError, type TimedOutError } from "./errors.js";

export type Ending = AbortedError | TimedOutError;

/** How long a call may take: until its deadline, or until its signal ends it. */
export type Lifetime = ReturnType<typeof startLifetime>;

/** Returns a function that cancels it. */
export type OnAbort = (signal: AbortSignal, callback: () => void) => () => void;

/** Has one listener on a signal for all the calls that share it: Node warns of more than ten. */
export function createOnAbort(): OnAbort {
  const shared = new Map<unknown, Set<() => void>>();
  const abort = (event: Event): void => shared.get(event.target)?.forEach((each) => each());
  return (signal, callback) => {
    const callbacks = shared.get(signal) ?? new Set();
    shared.set(signal, callbacks.add(callback));
    // If the signal has this listener, it is not added again.
    signal.addEventListener("abort", abort);
    return () => {
      callbacks.delete(callback);
      if (callbacks.size > 0) return;
      signal.removeEventListener("abort", abort);
      shared.delete(signal);
    };
  };
}

export function startLifetime(
  clock: ClientClock,
  seconds: number,
  signal: AbortSignal | undefined,
  onAbort: OnAbort,
) {
  let ending: Ending | undefined;
  let resolve: (ended: Result<never, Ending>) => void = () => undefined;
  const ended = new Promise<Result<never, Ending>>((resolveEnded) => (resolve = resolveEnded));
  const end = (how: Ending): void => resolve(err((ending ??= how)));
  const abort = (): void => end(aborted(signal?.reason));

  const stopTimer = clock.startTimer(seconds * 1_000, () => end(timedOut("call", seconds)));
  if (signal?.aborted === true) abort();
  const stopListening = signal && onAbort(signal, abort);
  return {
    endsAt: clock.now() + seconds * 1_000,
    /** Resolves when the deadline has passed or the signal is aborted. */
    ended,
    ending: () => ending,
    stop: (): void => {
      stopTimer();
      stopListening?.();
    },
  };
}
