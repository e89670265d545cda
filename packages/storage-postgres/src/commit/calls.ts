import type { StorageError } from "@petstore/core/storage";
import { retryWhileBusy, storageClosed, TooLate, type CommitErrors } from "@petstore/storage-sql";
import { err, ok, type Result } from "neverthrow";

/** What all calls of a storage have in common. */
export interface AttemptSettings {
  readonly errors: CommitErrors;
  /** How long a call is tried again, in milliseconds. Its last statement may end later. */
  readonly timeout: number;
  /** When a call fails at the latest, in milliseconds, even if a statement of it still runs. */
  readonly limit: number;
  /** How many calls share a statement at most. */
  readonly largestBatch: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

/** Runs a call, and retries it until its deadline while its error is temporary. It may have a limit of its own. */
export type RunCall = <T>(
  name: string,
  action: () => Promise<T>,
  limit?: number,
) => Promise<Result<T, StorageError>>;

/** Runs calls that share no statement with others. */
export interface Calls {
  readonly run: RunCall;
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  close(): Promise<void>;
}

/** How long an import may take, in milliseconds: 20,000 keys take about a second, and cross a network. */
export const IMPORT_TIMEOUT = 60_000;
/** How much later the call fails, so that the writer can find out what became of its statement. */
export const LOOK_UP_TIME = 5_000;

/** Creates the calls of an open storage. */
export function createAttempts(settings: AttemptSettings): Calls {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    run: (name, action, limit = settings.limit) => {
      if (isClosed) return Promise.resolve(err(storageClosed(name)));
      const result = runInTime({ ...settings, limit }, name, action);
      running.add(result);
      void result.finally(() => running.delete(result));
      return result;
    },
    close: async () => {
      isClosed = true;
      await Promise.all(running);
    },
  };
}

async function runInTime<T>(
  settings: AttemptSettings,
  name: string,
  action: () => Promise<T>,
): Promise<Result<T, StorageError>> {
  const { errors, limit } = settings;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result<T, StorageError>>((resolve) => {
    timer = setTimeout(() => resolve(err(errors.toFailure(name, new TooLate()))), limit);
  });
  try {
    return await Promise.race([retry(settings, name, action), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function retry<T>(
  { errors, timeout, now }: AttemptSettings,
  name: string,
  action: () => Promise<T>,
): Promise<Result<T, StorageError>> {
  try {
    return ok(await retryWhileBusy({ timeout, now, isBusy: errors.isBusy }, action));
  } catch (error) {
    return err(errors.toFailure(name, error));
  }
}

/** Runs actions one after the other, so that this process's own changes never collide. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(action: () => Promise<T>): Promise<T> => {
    const result = last.then(action);
    last = result.catch(() => undefined);
    return result;
  };
}
