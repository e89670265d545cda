import type { StorageError } from "@petstore/core/storage";
import { createGroupCommit, retryWhileBusy, storageClosed, TooLate } from "@petstore/storage-sql";
import type { GroupCommit, GroupCommitOptions } from "@petstore/storage-sql";
import { err, ok, type Result } from "neverthrow";
import { createTimeout } from "../database/database.js";

/** What all calls of a storage have in common. The last statement of a call may end later than `timeout`. */
export type CallSettings = Required<
  Omit<GroupCommitOptions<unknown, unknown>, "commit" | "kind" | "turns">
>;

/** How long an import may take, in milliseconds: 20,000 keys take about a second, and cross a network. */
export const IMPORT_TIMEOUT = 60_000;
/** How much later than its statement a call fails, so that the writer can find out what became of the statement. */
const LOOK_UP_TIME = 5_000;

/** Runs calls that share no statement with others. */
export type Attempts = ReturnType<typeof createAttempts>;

export function createAttempts({ errors, timeout, callTimeout: longest, now }: CallSettings) {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  async function runInTime<T>(
    name: string,
    action: () => Promise<T>,
    callTimeout: number,
    mayBeStored: () => boolean,
  ): Promise<Result<T, StorageError>> {
    const late = createTimeout(callTimeout, () => new TooLate(mayBeStored()));
    try {
      const retrying = retryWhileBusy({ timeout, now, isBusy: errors.isBusy }, action);
      return ok(await Promise.race([retrying, late.expired]));
    } catch (error) {
      return err(errors.toFailure(name, error));
    } finally {
      late.clear();
    }
  }
  return {
    /**
     * Retries a call while its error is temporary. A `callTimeout` replaces that of the settings.
     * @param mayBeStored whether the call may have changed something, when it has not ended in time. A read never has.
     */
    run: <T>(
      name: string,
      action: () => Promise<T>,
      callTimeout = longest,
      mayBeStored = () => false,
    ): Promise<Result<T, StorageError>> => {
      if (isClosed) return Promise.resolve(err(storageClosed(name)));
      const result = runInTime(name, action, callTimeout, mayBeStored);
      running.add(result);
      void result.finally(() => running.delete(result));
      return result;
    },
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.all(running);
    },
  };
}

/**
 * Creates a `run` of calls one after another: changes of this process never collide. One that has failed meanwhile is not
 * begun, since its caller may have made the change elsewhere. `timeout` is the statement's.
 */
export function createSerialRun(run: Attempts["run"]) {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(name: string, action: () => Promise<T>, timeout?: number) => {
    let isOver = false;
    let hasBegun = false;
    const begin = (): Promise<T> => {
      if (isOver) return Promise.reject(new TooLate(false));
      hasBegun = true;
      return action();
    };
    const inTurn = (): Promise<T> => {
      const result = last.then(begin);
      last = result.catch(() => undefined);
      return result;
    };
    const callTimeout = timeout && timeout + LOOK_UP_TIME;
    return run(name, inTurn, callTimeout, () => hasBegun).finally(() => (isOver = true));
  };
}

/**
 * Creates reads of which those that arrive together share a statement.
 * @param name names a read in a failure message, as in "Finding a pet".
 * @param read resolves to the function that returns what was read for each of these subjects.
 */
export function createLookUp<Subject, Value>(
  name: string,
  settings: CallSettings,
  read: (subjects: readonly Subject[]) => Promise<(subject: Subject) => Value>,
) {
  const reads: GroupCommit<(subject: Subject) => Value, Subject> = createGroupCommit({
    ...settings,
    kind: { storage: "postgres", group: "reads" },
    commit: async (calls) => {
      const found = await read(calls.map(({ subject }) => subject));
      return calls.map(({ work }) => work(found));
    },
  });
  return {
    find: (subject: Subject) => reads.add(name, (found) => found(subject), subject),
    close: () => reads.close(),
  };
}
