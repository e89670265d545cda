import {
  createMemoryStorage,
  storageFailure,
  type Storage,
  type StorageFailure,
} from "@petstore/core";
import type { Fixture } from "@petstore/storage-contract";
import { err, ok, type Result } from "neverthrow";

/** Breaks a storage. `opened` is how many storages were opened on the same fixture before. */
export type Change = (storage: Storage, opened: number) => Storage;

/** Storages that break a requirement: by the requirement's name, then by the flaw. */
export type BrokenStorages = Readonly<Record<string, Readonly<Record<string, Change>>>>;

/** A fixture in memory that supports reopening and sharing, so that every requirement applies to it. */
export function memoryFixture(change: Change = (storage) => storage): Fixture {
  const shared = createMemoryStorage();
  let opened = 0;
  return {
    open: () => Promise.resolve(change(withOwnClose(shared), opened++)),
    remove: () => Promise.resolve(),
  };
}

/** A storage on the same data as another. Closing it leaves the other one open. */
function withOwnClose({ pets, keys, usage }: Storage): Storage {
  let open = true;
  const whenOpen = async <T>(
    call: () => Promise<Result<T, StorageFailure>>,
  ): Promise<Result<T, StorageFailure>> => (open ? call() : err(storageFailure("closed")));
  return {
    pets: {
      create: (pet) => whenOpen(() => pets.create(pet)),
      createOnce: (pet, request) => whenOpen(() => pets.createOnce(pet, request)),
      find: (id) => whenOpen(() => pets.find(id)),
      list: (query) => whenOpen(() => pets.list(query)),
    },
    keys: {
      insert: (key) => whenOpen(() => keys.insert(key)),
      find: (id) => whenOpen(() => keys.find(id)),
      list: (query) => whenOpen(() => keys.list(query)),
      update: (id, decide) => whenOpen(() => keys.update(id, decide)),
      remove: (ids) => whenOpen(() => keys.remove(ids)),
    },
    usage: {
      charge: (digest, decide) => whenOpen(() => usage.charge(digest, decide)),
      findByDigest: (digest) => whenOpen(() => usage.findByDigest(digest)),
      update: (keyId, decide) => whenOpen(() => usage.update(keyId, decide)),
    },
    close: () => {
      open = false;
      return Promise.resolve(ok());
    },
  };
}

/** A call of the storage that is followed by a second one, which is how a storage fails to be atomic. */
export async function inTwoCalls<T, U>(
  first: Promise<Result<T, StorageFailure>>,
  second: (value: T) => Promise<Result<U, StorageFailure>>,
): Promise<Result<U, StorageFailure>> {
  const result = await first;
  return result.isErr() ? err(result.error) : second(result.value);
}
