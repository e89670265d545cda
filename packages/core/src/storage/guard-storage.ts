import { err, ResultAsync, type Result } from "neverthrow";
import { storageFailure, type StorageFailure } from "./storage-failure.js";
import type { Storage } from "./storage.js";

/** What the host's side asks of a storage. */
export type GuardedStorage = Pick<Storage, "keys" | "close"> & {
  readonly usage: Pick<Storage["usage"], "update">;
};

/**
 * A storage that keeps its word not to throw even when it doesn't: a storage is often a host's own
 * code, and whatever it does must not take a call down. What requests ask goes through `askStorage`.
 */
export function guardStorage(storage: Storage): GuardedStorage {
  const { keys, usage } = storage;
  return {
    keys: {
      insert: (key) => attempt(() => keys.insert(key)),
      find: (id) => attempt(() => keys.find(id)),
      list: (query) => attempt(() => keys.list(query)),
      update: (id, decide) => attempt(() => keys.update(id, decide)),
    },
    usage: { update: (keyId, decide) => attempt(() => usage.update(keyId, decide)) },
    close: () => attempt(() => storage.close()),
  };
}

function attempt<T>(
  call: () => Promise<Result<T, StorageFailure>>,
): ResultAsync<T, StorageFailure> {
  return new ResultAsync(askStorage(call, (answered) => answered));
}

/**
 * Asks a storage and goes on with its answer: all in one `then`, since every request goes through here.
 * What a storage throws or rejects with is its failure.
 */
export function askStorage<T, Answer>(
  call: () => Promise<Result<T, StorageFailure>>,
  goOn: (answered: Result<T, StorageFailure>) => Answer,
): Promise<Answer> {
  const goOnBroken = (cause: unknown): Answer =>
    goOn(err(storageFailure("The storage threw.", cause)));
  try {
    return Promise.resolve(call().then<Answer, Answer>(goOn, goOnBroken));
  } catch (cause) {
    return Promise.resolve(goOnBroken(cause));
  }
}
