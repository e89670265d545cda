import { err, ResultAsync, type Result } from "neverthrow";

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

  const run = async <T, E, R>(
    call: () => Promise<Result<T, E>>,
    refusal: () => R,
  ): Promise<Result<T, E | R>> => {
    if (!open) return err(refusal());
    running += 1;
    try {
      return await call();
    } finally {
      running -= 1;
      if (running === 0) whenIdle?.();
    }
  };

  return {
    pass: (call, refusal) => new ResultAsync(run(call, refusal)),
    close: () => {
      open = false;
      return new Promise((resolve) => {
        if (running === 0) resolve();
        else whenIdle = resolve;
      });
    },
  };
}
