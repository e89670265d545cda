import { clearTimeout, setTimeout } from "node:timers";
import { err, ResultAsync, type Result } from "neverthrow";
import { closeTimedOut, storageUnavailable, storeClosed } from "../errors.js";
import type { CodedError, StorageUnavailableError, UnavailableError } from "../errors.js";
import { signalChannel } from "../events/signals.js";
import { codeOf, ownField } from "../validation/fields.js";

type Call<T, E> = () => Promise<Result<T, E>>;
type LastCall = Call<void, StorageUnavailableError>;

export type Calls = ReturnType<typeof createCalls>;

export function createCalls() {
  const failures = signalChannel("petstore:storage-error");
  let isOpen = true;
  let running = 0;
  let whenIdle: (() => void) | undefined;

  async function run<T, E extends CodedError<string>, F>(
    call: Call<T, E>,
    fail: (error: UnavailableError) => F,
  ): Promise<Result<T, E | F>> {
    if (!isOpen) return err(fail(storeClosed()));
    running += 1;
    try {
      const result = await call();
      if (result.isErr() && result.error.code === "storage_unavailable") {
        failures.publish({ code: firstCodeOf(ownField(result.error, "cause")) });
      }
      return result;
    } catch (cause) {
      failures.publish({ code: firstCodeOf(cause) });
      return err(fail(storageUnavailable(cause)));
    } finally {
      running -= 1;
      if (running === 0) whenIdle?.();
    }
  }

  async function close(seconds: number, lastCall: LastCall) {
    isOpen = false;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    if (running === 0) whenIdle?.();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<Result<void, StorageUnavailableError>>((resolve) => {
      timer = setTimeout(() => resolve(err(closeTimedOut(running, seconds))), seconds * 1_000);
    });
    try {
      await Promise.race([idle, timeout]);
      return await Promise.race([timeout, lastCall()]);
    } catch (cause) {
      return err(storageUnavailable(cause));
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    /**
     * Runs a call. If the store is closed, or the call throws (a bug, a broken clock or random source), the result is
     * the error that `fail` returns for the given one. `fail` must not throw.
     */
    run: <T, E extends CodedError<string>, F>(
      call: Call<T, E>,
      fail: (error: UnavailableError) => F,
    ) => new ResultAsync(run(call, fail)),
    /**
     * Refuses new calls, waits for the running ones, then runs the last call: after this many seconds at the latest, and
     * then the result is an error.
     */
    close: (seconds: number, lastCall: LastCall) => new ResultAsync(close(seconds, lastCall)),
  };
}

/** A cause may be its own. */
const DEEPEST_CAUSE = 8;

/** Returns the first code of the driver or the system among the causes of an error; it is a word: `SQLITE_FULL`. */
function firstCodeOf(error: unknown, depth = 0): string | undefined {
  if (error === undefined || depth > DEEPEST_CAUSE) return undefined;
  const code = codeOf(error);
  return /^\w{1,64}$/.test(code) ? code : firstCodeOf(ownField(error, "cause"), depth + 1);
}
