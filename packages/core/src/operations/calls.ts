import { err, ResultAsync, type Result } from "neverthrow";
import { createFailureSignal } from "./failure-signal.js";
import {
  closeTimedOut,
  storageUnavailable,
  storeClosed,
  type StorageUnavailable,
  type Unavailable,
} from "../errors.js";

/** Runs the calls of a store while it is open. */
export interface Calls {
  /**
   * Runs a call. If the store is closed, or the call throws because of a bug, the result is the error that
   * `fail` returns for the given one.
   */
  run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: Unavailable) => F,
  ): ResultAsync<T, E | F>;
  /**
   * Refuses new calls, waits for the running ones, and then runs the last call. After this many seconds it
   * stops waiting: it starts the last call if necessary, and the result is an error.
   */
  close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailable>>,
  ): ResultAsync<void, StorageUnavailable>;
}

/** Creates the calls of a store that is open. */
export function createCalls(): Calls {
  let isOpen = true;
  const publishFailure = createFailureSignal();
  let running = 0;
  let whenIdle: (() => void) | undefined;

  async function run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: Unavailable) => F,
  ): Promise<Result<T, E | F>> {
    if (!isOpen) return err(fail(storeClosed()));
    running += 1;
    try {
      const result = await call();
      if (result.isErr()) publishFailure(result.error);
      return result;
    } catch (cause) {
      const error = storageUnavailable(cause);
      publishFailure(error);
      return err(fail(error));
    } finally {
      running -= 1;
      if (running === 0) whenIdle?.();
    }
  }

  async function close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailable>>,
  ): Promise<Result<void, StorageUnavailable>> {
    isOpen = false;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    if (running === 0) whenIdle?.();
    const deadline = startDeadline(seconds);
    try {
      await Promise.race([idle, deadline.reached]);
      const late = running;
      const closed = lastCall();
      const timedOut = deadline.reached.then(() => err(closeTimedOut(late, seconds)));
      const first = await Promise.race([closed, timedOut]);
      return late > 0 ? await timedOut : first;
    } catch (cause) {
      return err(storageUnavailable(cause));
    } finally {
      deadline.clear();
    }
  }

  return {
    run: (call, fail) => new ResultAsync(run(call, fail)),
    close: (seconds, lastCall) => new ResultAsync(close(seconds, lastCall)),
  };
}

function startDeadline(seconds: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reached = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1_000);
  });
  return { reached, clear: () => clearTimeout(timer) };
}
