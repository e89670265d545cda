import { setImmediate } from "node:timers/promises";
import { createMemoryStorage, storageFailure, type PetPage } from "@petstore/core";
import { err, errAsync, okAsync, ResultAsync } from "neverthrow";
import type { Change } from "./memory-place.js";

/** Storages that break one promise about opening and closing each, by the name of the promise. */
export const brokenLifecycle: readonly (readonly [promise: string, flaw: string, Change])[] = [
  [
    "answers every call after it was closed with a failure, as a value",
    "goes on as if it was not closed",
    (storage) => ({ ...storage, close: () => okAsync() }),
  ],
  [
    "answers every call after it was closed with a failure, as a value",
    "throws",
    (storage) => {
      let open = true;
      return {
        ...storage,
        keys: {
          ...storage.keys,
          list: (query) => {
            if (!open) throw new Error("closed");
            return storage.keys.list(query);
          },
        },
        close: () => {
          open = false;
          return storage.close();
        },
      };
    },
  ],
  [
    "is closed twice as well as once, also at once",
    "fails the second time",
    (storage) => {
      let open = true;
      return {
        ...storage,
        close: () => {
          if (!open) return errAsync(storageFailure("closed"));
          open = false;
          return storage.close();
        },
      };
    },
  ],
  [
    "completes what is under way when it is closed",
    "drops what waits for its turn",
    (storage) => {
      let open = true;
      const turn = async () => {
        await setImmediate();
        return open ? storage : undefined;
      };
      return {
        ...storage,
        pets: {
          ...storage.pets,
          create: (pet) =>
            new ResultAsync(
              turn().then((still) => still?.pets.create(pet) ?? err(storageFailure("closed"))),
            ),
        },
        close: () => {
          open = false;
          return storage.close();
        },
      };
    },
  ],
  [
    "finds everything again when it is reopened, and gives out no id twice",
    "starts empty",
    (storage, handle) => (handle === 0 ? storage : createMemoryStorage()),
  ],
  [
    "finds everything again when it is reopened, and gives out no id twice",
    "starts counting afresh",
    countingByItself,
  ],
  [
    "shows at once what another storage on the same data stored",
    "caches pages until it adds a pet itself",
    (storage) => {
      let cached: PetPage | undefined;
      return {
        ...storage,
        pets: {
          ...storage.pets,
          create: (pet) => {
            cached = undefined;
            return storage.pets.create(pet);
          },
          list: (query) =>
            cached ? okAsync(cached) : storage.pets.list(query).map((page) => (cached = page)),
        },
      };
    },
  ],
  [
    "shows at once what another storage on the same data stored",
    "caches who has a secret",
    (storage) => {
      const keys = new Map<string, { readonly revokedAt: number | undefined }>();
      return {
        ...storage,
        usage: {
          ...storage.usage,
          charge: (digest, decide) =>
            storage.usage.charge(digest, (holder) => {
              if (holder === undefined) return decide(holder);
              const known = keys.get(digest) ?? { revokedAt: undefined };
              return decide({ ...holder, key: { ...holder.key, ...known } });
            }),
        },
      };
    },
  ],
  [
    "gives each pet an id of its own, also when two storages on the same data add at once",
    "counts in each storage",
    countingByItself,
  ],
];

function countingByItself(...[storage]: Parameters<Change>): ReturnType<Change> {
  let id = 0n;
  return {
    ...storage,
    pets: {
      ...storage.pets,
      create: (pet) => storage.pets.create(pet).map((created) => ({ ...created, id: (id += 1n) })),
    },
  };
}
