import { err, ResultAsync, type Result } from "neverthrow";
import { storageFailure, type StorageFailure } from "./storage-failure.js";
import type { Storage } from "./storage.js";

/**
 * A storage that keeps its word not to throw even when it doesn't: a storage is often a host's own
 * code, and whatever it does must not take a request down.
 */
export function guardStorage(storage: Storage): Storage {
  const { pets, keys, usage } = storage;
  return {
    pets: {
      create: (pet) => attempt(() => pets.create(pet)),
      createAll: (all) => attempt(() => pets.createAll(all)),
      find: (id) => attempt(() => pets.find(id)),
      list: (query) => attempt(() => pets.list(query)),
    },
    keys: {
      insert: (key) => attempt(() => keys.insert(key)),
      find: (id) => attempt(() => keys.find(id)),
      list: (query) => attempt(() => keys.list(query)),
      update: (id, decide) => attempt(() => keys.update(id, decide)),
    },
    usage: {
      charge: (digest, decide) => attempt(() => usage.charge(digest, decide)),
      update: (keyId, decide) => attempt(() => usage.update(keyId, decide)),
    },
    close: () => attempt(() => storage.close()),
  };
}

function attempt<T>(call: () => ResultAsync<T, StorageFailure>): ResultAsync<T, StorageFailure> {
  return new ResultAsync(askStorage(call, (answered) => answered));
}

/**
 * Asks a storage and goes on with its answer: all in one `then`, since every request goes through here.
 * What a storage throws or rejects with is its failure.
 */
export function askStorage<T, Answer>(
  call: () => ResultAsync<T, StorageFailure>,
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
