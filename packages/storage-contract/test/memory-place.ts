import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import type { Place } from "@petstore/storage-contract";
import { errAsync, okAsync, type ResultAsync } from "neverthrow";

/** Changes a storage; `handle` counts how often its place was opened before. */
export type Change = (storage: Storage, handle: number) => Storage;

/** A place in memory that can be reopened and shared, so that every promise makes sense for it. */
export function memoryPlace(change: Change = (storage) => storage): Place {
  const shared = createMemoryStorage();
  let handles = 0;
  return {
    open: () => Promise.resolve(change(handleOf(shared), handles++)),
    remove: () => Promise.resolve(),
  };
}

/** A storage that closes without closing what is behind it. */
function handleOf({ pets, keys, usage }: Storage): Storage {
  let open = true;
  const whenOpen = <T>(call: () => ResultAsync<T, { message: string; cause: unknown }>) =>
    open ? call() : errAsync(storageFailure("closed"));
  return {
    pets: {
      create: (pet) => whenOpen(() => pets.create(pet)),
      createAll: (all) => whenOpen(() => pets.createAll(all)),
      find: (id) => whenOpen(() => pets.find(id)),
      list: (query) => whenOpen(() => pets.list(query)),
    },
    keys: {
      insert: (key) => whenOpen(() => keys.insert(key)),
      find: (id) => whenOpen(() => keys.find(id)),
      list: (query) => whenOpen(() => keys.list(query)),
      update: (id, decide) => whenOpen(() => keys.update(id, decide)),
    },
    usage: {
      charge: (digest, decide) => whenOpen(() => usage.charge(digest, decide)),
      update: (keyId, decide) => whenOpen(() => usage.update(keyId, decide)),
    },
    close: () => {
      open = false;
      return okAsync();
    },
  };
}
