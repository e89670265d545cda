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
  return new ResultAsync(settle(call));
}

async function settle<T>(
  call: () => ResultAsync<T, StorageFailure>,
): Promise<Result<T, StorageFailure>> {
  try {
    return await call();
  } catch (cause) {
    return err(storageFailure("The storage threw.", cause));
  }
}
