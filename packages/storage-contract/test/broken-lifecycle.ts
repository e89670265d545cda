import { setImmediate } from "node:timers/promises";
import { createMemoryStorage, storageFailure, type PetPage, type Storage } from "@petstore/core";
import { err, ok } from "neverthrow";
import { countingByDigest } from "./broken-usage.js";
import type { BrokenStorages, Change } from "./memory-fixture.js";

/** Storages that break the requirements on closing, reopening and sharing. */
export const brokenLifecycle: BrokenStorages = {
  "fails every call after close, with an Err value": {
    "stays open": (storage) => ({ ...storage, close: () => Promise.resolve(ok()) }),
    throws: withListAfterClose(() => {
      throw new Error("closed");
    }),
    rejects: withListAfterClose(() => Promise.reject(new Error("closed"))),
  },
  "can be closed twice, one after the other or at once": {
    "fails the second time": (storage) => {
      let open = true;
      return {
        ...storage,
        close: () => {
          if (!open) return Promise.resolve(err(storageFailure("closed")));
          open = false;
          return storage.close();
        },
      };
    },
  },
  "completes the calls that are under way when it is closed": {
    "drops the calls that wait": (storage) => ({
      ...storage,
      pets: {
        ...storage.pets,
        create: async (pet) => {
          await setImmediate();
          return storage.pets.create(pet);
        },
      },
    }),
  },
  "finds all data after it is reopened, and reuses no id": {
    "starts empty": (storage, opened) => (opened === 0 ? storage : createMemoryStorage()),
    "starts at the first id again": withOwnIds,
  },
  "immediately finds the data that another storage on the same data stored": {
    "caches a page until it creates a pet itself": (storage) => {
      let cached: PetPage | undefined;
      return {
        ...storage,
        pets: {
          ...storage.pets,
          create: (pet) => {
            cached = undefined;
            return storage.pets.create(pet);
          },
          list: async (query) =>
            cached ? ok(cached) : (await storage.pets.list(query)).map((page) => (cached = page)),
        },
      };
    },
    "caches when a key was revoked": (storage) => {
      const revocations = new Map<string, number | undefined>();
      return {
        ...storage,
        usage: {
          ...storage.usage,
          charge: (digest, decide) =>
            storage.usage.charge(digest, (presented) => {
              if (presented === undefined) return decide(presented);
              if (!revocations.has(digest)) revocations.set(digest, presented.key.revokedAt);
              const revokedAt = revocations.get(digest);
              return decide({ ...presented, key: { ...presented.key, revokedAt } });
            }),
        },
      };
    },
  },
  "gives each pet its own id, even when two storages on the same data create at once": {
    "counts ids in each storage": withOwnIds,
  },
  "lists each pet exactly once to a follower that continues after the last id seen, while others create":
    { "takes ids from a sequence, and shows a pet only when it is committed": withSequence },
  "counts concurrent charges of one key together when two storages share the data": {
    "counts in each storage": countingByDigest,
  },
};

function withListAfterClose(list: Storage["keys"]["list"]): Change {
  return (storage) => {
    let open = true;
    return {
      ...storage,
      keys: {
        ...storage.keys,
        list: (query) => (open ? storage.keys.list(query) : list(query)),
      },
      close: () => {
        open = false;
        return storage.close();
      },
    };
  };
}

/** A pet with an odd id is visible a turn later than the next one. */
function withSequence(...[storage]: Parameters<Change>): ReturnType<Change> {
  const uncommitted = new Set<bigint>();
  return {
    ...storage,
    pets: {
      ...storage.pets,
      create: async (pet) => {
        const created = await storage.pets.create(pet);
        const { id } = created._unsafeUnwrap();
        uncommitted.add(id);
        for (let turns = id % 2n; turns >= 0n; turns -= 1n) await setImmediate();
        uncommitted.delete(id);
        return created;
      },
      list: async (query) =>
        (await storage.pets.list(query)).map(({ pets, next }) => ({
          pets: pets.filter(({ id }) => !uncommitted.has(id)),
          next,
        })),
    },
  };
}

function withOwnIds(...[storage]: Parameters<Change>): ReturnType<Change> {
  let id = 0n;
  return {
    ...storage,
    pets: {
      ...storage.pets,
      create: async (pet) =>
        (await storage.pets.create(pet)).map((created) => ({ ...created, id: (id += 1n) })),
    },
  };
}
