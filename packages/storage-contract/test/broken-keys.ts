import {
  NO_USAGE,
  type KeyStorage,
  type KeyWithUsage,
  type StoredApiKey,
  type Usage,
} from "@petstore/core";
import { inTwoCalls, type BrokenStorages, type Change } from "./memory-fixture.js";

/** Storages that break the requirements of `KeyStorage`. */
export const brokenKeys: BrokenStorages = {
  "keeps every field of an API key exact, in find and in list": {
    "finds no label where the label is empty": withFound((key) => ({
      ...key,
      label: key.label === "" ? undefined : key.label,
    })),
    "keeps only the newest secret": withFound((key) => ({
      ...key,
      secrets: key.secrets.slice(0, 1),
    })),
    "lists keys without their labels": withListed((keys) =>
      keys.map(({ key, usage }) => ({ key: { ...key, label: undefined }, usage })),
    ),
  },
  "lists API keys in ascending order of id, compared byte by byte, page after page": {
    "compares ids by locale": withKeys((real) => ({
      list: async ({ limit, after, banned }) =>
        (await real.list({ limit: 100, after: undefined, banned })).map((all) =>
          all
            .filter(({ key }) => after === undefined || key.id.localeCompare(after) > 0)
            .toSorted((one, other) => one.key.id.localeCompare(other.key.id))
            .slice(0, limit),
        ),
    })),
  },
  "lists exactly the API keys that remember a ban, page after page": {
    "lists all keys": withKeys((real) => ({
      list: (query) => real.list({ ...query, banned: false }),
    })),
    "filters by ban after it has cut the page": withKeys((real) => ({
      list: async (query) =>
        (await real.list({ ...query, banned: false })).map((page) =>
          page.filter(({ usage }) => !query.banned || usage.bans > 0),
        ),
    })),
  },
  "stores the API key that the decision returns, and changes no other key, no id and no usage": {
    "keeps the old expiry": withKeys((real) => ({
      update: (id, decide) =>
        real.update(id, (shown) => {
          const { next, result } = decide(shown);
          return { next: next && { ...next, expiresAt: shown?.expiresAt }, result };
        }),
    })),
    "resets the usage": (storage) => ({
      ...storage,
      keys: {
        ...storage.keys,
        update: (id, decide) =>
          inTwoCalls(storage.keys.update(id, decide), (result) =>
            storage.usage.update(id, () => ({ next: NO_USAGE, result })),
          ),
      },
    }),
    "stores it under the id that the decision returns": withKeys((real) => ({
      update: (id, decide) =>
        inTwoCalls(
          real.update(id, (shown) => ({ result: decide(shown) })),
          ({ next, result }) => real.update(next?.id ?? id, () => ({ next, result })),
        ),
    })),
  },
  "passes undefined to the update of a missing API key, and stores nothing": {
    "inserts the key": withKeys((real) => ({
      update: (id, decide) => {
        const { next, result } = decide(undefined);
        return next === undefined
          ? real.update(id, decide)
          : inTwoCalls(real.insert(next), () => real.update(id, () => ({ result })));
      },
    })),
  },
  "leaves an API key unchanged when the decision returns no next, or the key that was passed to it":
    {
      "changes every key that it shows": withKeys((real) => ({
        update: (id, decide) =>
          real.update(id, (shown) => {
            const { next = shown, result } = decide(shown);
            return { next: next && { ...next, label: "touched" }, result };
          }),
      })),
    },
  "passes to each of many concurrent updates of an API key the key that the previous one stored": {
    "reads and writes in two calls": withKeys((real) => ({
      update: (id, decide) =>
        inTwoCalls(
          real.update(id, (shown) => ({ result: shown })),
          (shown) => real.update(id, () => decide(shown)),
        ),
    })),
  },
  "fails only the update of an API key whose decision throws": {
    "writes before it decides": withKeys((real) => ({
      update: (id, decide) =>
        inTwoCalls(
          real.update(id, (shown) => ({ next: shown && { ...shown, label: "x" }, result: 0 })),
          () => real.update(id, decide),
        ),
    })),
  },
  "removes exactly the API keys with the given ids, with their secrets and usage, and counts them":
    {
      "counts the ids": withKeys((real) => ({
        remove: async (ids) => (await real.remove(ids)).map(() => ids.length),
      })),
      "removes only the first": withKeys((real) => ({
        remove: async (ids) => (await real.remove(ids.slice(0, 1))).map(() => ids.length - 1),
      })),
      "keeps the usage": (storage) => {
        const kept = new Map<string, Usage>();
        return {
          ...storage,
          keys: {
            ...storage.keys,
            remove: async (ids) => {
              for (const id of ids) {
                const found = (await storage.keys.find(id)).unwrapOr(undefined);
                if (found) kept.set(id, found.usage);
              }
              return storage.keys.remove(ids);
            },
            insert: (key) =>
              inTwoCalls(storage.keys.insert(key), () =>
                storage.usage.update(key.id, () => ({ next: kept.get(key.id), result: undefined })),
              ),
          },
        };
      },
    },
  "finds an API key by each of its current secrets, and by no secret that was removed": {
    "still finds it by a removed secret": (storage) => {
      const removed = new Map<string, string>();
      return {
        ...storage,
        keys: {
          ...storage.keys,
          update: (id, decide) =>
            storage.keys.update(id, (shown) => {
              const step = decide(shown);
              const newest = step.next?.secrets[0]?.digest ?? "";
              for (const { digest } of shown?.secrets ?? []) removed.set(digest, newest);
              return step;
            }),
        },
        usage: {
          ...storage.usage,
          charge: (digest, decide) =>
            inTwoCalls(
              storage.usage.charge(digest, (presented) => ({ result: presented })),
              (presented) =>
                storage.usage.charge(presented ? digest : (removed.get(digest) ?? ""), decide),
            ),
        },
      };
    },
  },
};

function withFound(change: (key: StoredApiKey) => StoredApiKey): Change {
  const changed = (found: KeyWithUsage): KeyWithUsage => ({ ...found, key: change(found.key) });
  return withKeys((real) => ({
    find: async (id) => (await real.find(id)).map((found) => found && changed(found)),
  }));
}

function withListed(change: (keys: readonly KeyWithUsage[]) => readonly KeyWithUsage[]): Change {
  return withKeys((real) => ({ list: async (query) => (await real.list(query)).map(change) }));
}

function withKeys(change: (keys: KeyStorage) => Partial<KeyStorage>): Change {
  return (storage) => ({ ...storage, keys: { ...storage.keys, ...change(storage.keys) } });
}
