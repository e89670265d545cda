import { err, ResultAsync, type Result } from "neverthrow";
import {
  closeTimedOut,
  storageUnavailable,
  storeClosed,
  type StorageUnavailableError,
  type UnavailableError,
} from "../errors.js";
import { signalChannel } from "../signals.js";

/** Runs the calls of a store while it is open. */
export interface Calls {
  /**
   * Runs a call. If the store is closed, or the call throws because of a bug or a broken clock or random source, the
   * result is the error that `fail` returns for the given one. `fail` must not throw.
   */
  run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: UnavailableError) => F,
  ): ResultAsync<T, E | F>;
  /**
   * Refuses new calls, waits for the running ones, and then runs the last call. After this many seconds it
   * stops waiting: it starts the last call if necessary, and the result is an error.
   */
  close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailableError>>,
  ): ResultAsync<void, StorageUnavailableError>;
}

/** Creates the calls of a store that is open. */
export function createCalls(): Calls {
  let isOpen = true;
  const publishFailure = createFailureSignal();
  let running = 0;
  let whenIdle: (() => void) | undefined;

  async function run<T, E, F>(
    call: () => Promise<Result<T, E>>,
    fail: (error: UnavailableError) => F,
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

  function close(
    seconds: number,
    lastCall: () => Promise<Result<void, StorageUnavailableError>>,
  ): Promise<Result<void, StorageUnavailableError>> {
    isOpen = false;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    if (running === 0) whenIdle?.();
    return endWithin(seconds, idle, () => running, lastCall);
  }

  return {
    run: (call, fail) => new ResultAsync(run(call, fail)),
    close: (seconds, lastCall) => new ResultAsync(close(seconds, lastCall)),
  };
}

/** Waits for the running calls and then for the last one, but no longer than this many seconds. */
async function endWithin(
  seconds: number,
  idle: Promise<void>,
  running: () => number,
  lastCall: () => Promise<Result<void, StorageUnavailableError>>,
): Promise<Result<void, StorageUnavailableError>> {
  const deadline = startDeadline(seconds);
  try {
    await Promise.race([idle, deadline.reached]);
    const late = running();
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

function startDeadline(seconds: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reached = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1_000);
  });
  return { reached, clear: () => clearTimeout(timer) };
}

/** Creates the function that publishes the error of a call, if its storage has failed. */
function createFailureSignal(): (error: unknown) => void {
  const failures = signalChannel("petstore:storage-error");
  return (error) => {
    if (isStorageUnavailable(error)) failures.publish({ code: codeOf(error.cause) });
  };
}

function isStorageUnavailable(error: unknown): error is StorageUnavailableError {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "storage_unavailable"
  );
}

/**
 * Returns the code of the driver or the system, which is a word: `SQLITE_FULL`. Never throws, although causes are
 * anybody's: one may be its own cause, or a getter that throws.
 */
function codeOf(cause: unknown): string | undefined {
  try {
    if (typeof cause !== "object" || cause === null) return undefined;
    if ("code" in cause && typeof cause.code === "string" && /^\w{1,64}$/.test(cause.code)) {
      return cause.code;
    }
    return "cause" in cause ? codeOf(cause.cause) : undefined;
  } catch {
    return undefined;
  }
}
