import { errAsync, ResultAsync, type Result } from "neverthrow";

/** Lets calls in until the store is closed, and knows when the last of them is done. */
export interface Gate {
  /** Runs the call and answers what `conclude` makes of its result; or `refusal` when closed. */
  pass<T, E, U, F, R>(
    call: () => Promise<Result<T, E>>,
    refusal: () => R,
    conclude: (result: Result<T, E>) => Result<U, F>,
  ): ResultAsync<U, F | R>;
  /** Closes the gate; resolves when no call is running any more. */
  close(): Promise<void>;
}

/** The conclusion of a call whose result is the answer. */
export function asIs<T>(result: T): T {
  return result;
}

/** An open gate. */
export function createGate(): Gate {
  let open = true;
  let running = 0;
  let whenIdle: (() => void) | undefined;

  const leave = (): void => {
    running -= 1;
    if (running === 0) whenIdle?.();
  };
  const fail = (cause: unknown): never => {
    leave();
    throw cause;
  };

  return {
    pass: <T, E, U, F, R>(
      call: () => Promise<Result<T, E>>,
      refusal: () => R,
      conclude: (result: Result<T, E>) => Result<U, F>,
    ) => {
      if (!open) return errAsync<U, F | R>(refusal());
      running += 1;
      const answer = (result: Result<T, E>): Result<U, F | R> => {
        leave();
        return conclude(result);
      };
      try {
        // One `then` instead of an `async` function: every request goes through here.
        return new ResultAsync<U, F | R>(call().then(answer, fail));
      } catch (cause) {
        return new ResultAsync<U, F | R>(Promise.resolve().then(() => fail(cause)));
      }
    },
    close: () => {
      open = false;
      return new Promise((resolve) => {
        if (running === 0) resolve();
        else whenIdle = resolve;
      });
    },
  };
}
