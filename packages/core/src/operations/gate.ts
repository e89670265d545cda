import { errAsync, ResultAsync, type Result } from "neverthrow";

/** Lets calls in until the store is closed, and knows when the last of them is done. */
export interface Gate {
  /** Runs the call, or answers `refusal` when the gate is closed. */
  pass<T, E, R>(call: () => Promise<Result<T, E>>, refusal: () => R): ResultAsync<T, E | R>;
  /** Closes the gate; resolves when no call is running any more. */
  close(): Promise<void>;
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
  const answer = <Answer>(result: Answer): Answer => {
    leave();
    return result;
  };
  const fail = (cause: unknown): never => {
    leave();
    throw cause;
  };

  return {
    pass: <T, E, R>(call: () => Promise<Result<T, E>>, refusal: () => R) => {
      if (!open) return errAsync<T, E | R>(refusal());
      running += 1;
      try {
        // One `then` instead of an `async` function: every request goes through here.
        return new ResultAsync<T, E | R>(call().then(answer<Result<T, E | R>>, fail));
      } catch (cause) {
        return fail(cause);
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
