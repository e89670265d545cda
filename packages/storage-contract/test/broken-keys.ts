import { NO_USAGE, type KeyStorage, type KeyWithUsage, type StoredApiKey } from "@petstore/core";
import type { Change } from "./memory-place.js";

/** Storages whose keys break one promise each, by the name of the promise. */
export const brokenKeys: readonly (readonly [promise: string, flaw: string, Change])[] = [
  [
    "keeps every field of an API key exact, in find and in list",
    "takes an empty label for none",
    brokenFind((key) => ({ ...key, label: key.label === "" ? undefined : key.label })),
  ],
  [
    "keeps every field of an API key exact, in find and in list",
    "keeps only the newest secret",
    brokenFind((key) => ({ ...key, secrets: key.secrets.slice(0, 1) })),
  ],
  [
    "lists API keys in ascending order of id, byte by byte, page after page",
    "compares as people do",
    withKeys((real) => ({
      list: ({ limit, after, banned }) =>
        real.list({ limit: 100, after: undefined, banned }).map((all) =>
          all
            .filter(({ key }) => after === undefined || key.id.localeCompare(after) > 0)
            .toSorted((one, other) => one.key.id.localeCompare(other.key.id))
            .slice(0, limit),
        ),
    })),
  ],
  [
    "lists the API keys that remember a ban, and only these",
    "lists all keys",
    withKeys((real) => ({ list: (query) => real.list({ ...query, banned: false }) })),
  ],
  [
    "changes an API key to what is decided on, and no other key, and not its usage",
    "keeps the old expiry",
    withKeys((real) => ({
      update: (id, decide) =>
        real.update(id, (shown) => {
          const { next, result } = decide(shown);
          return { next: next && { ...next, expiresAt: shown?.expiresAt }, result };
        }),
    })),
  ],
  [
    "changes an API key to what is decided on, and no other key, and not its usage",
    "starts the usage afresh",
    (storage) => ({
      ...storage,
      keys: {
        ...storage.keys,
        update: (id, decide) =>
          storage.keys
            .update(id, decide)
            .andThen((result) => storage.usage.update(id, () => ({ next: NO_USAGE, result }))),
      },
    }),
  ],
  [
    "changes an API key to what is decided on, and no other key, and not its usage",
    "stores it under the id that it now has",
    withKeys((real) => ({
      update: (id, decide) =>
        real
          .update(id, (shown) => ({ result: decide(shown) }))
          .andThen(({ next, result }) => real.update(next?.id ?? id, () => ({ next, result }))),
    })),
  ],
  [
    "shows undefined for an API key that is not there, and stores nothing then",
    "inserts it",
    withKeys((real) => ({
      update: (id, decide) => {
        const { next } = decide(undefined);
        return real
          .update(id, decide)
          .andThen((result) =>
            next ? real.insert(next).map(() => result) : real.update(id, () => ({ result })),
          );
      },
    })),
  ],
  [
    "leaves an API key as it is when the decision names no next, or what it was shown",
    "marks every key that it was shown",
    withKeys((real) => ({
      update: (id, decide) =>
        real.update(id, (shown) => {
          const { next = shown, result } = decide(shown);
          return { next: next && { ...next, label: "touched" }, result };
        }),
    })),
  ],
  [
    "shows each of many concurrent changes of an API key what the one before it stored",
    "reads and writes in two steps",
    withKeys((real) => ({
      update: (id, decide) =>
        real
          .update(id, (shown) => ({ result: shown }))
          .andThen((shown) => real.update(id, () => decide(shown))),
    })),
  ],
  [
    "fails only the change of an API key whose decision throws",
    "stores before it decides",
    withKeys((real) => ({
      update: (id, decide) =>
        real
          .update(id, (shown) => ({ next: shown && { ...shown, label: "x" }, result: 0 }))
          .andThen(() => real.update(id, decide)),
    })),
  ],
  [
    "knows an API key by each secret it lists, and by none it lists no longer",
    "still knows the secrets that were removed",
    (storage) => {
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
            storage.usage
              .charge(digest, (holder) => ({ result: holder }))
              .andThen((holder) =>
                storage.usage.charge(holder ? digest : (removed.get(digest) ?? ""), decide),
              ),
        },
      };
    },
  ],
];

function brokenFind(change: (key: StoredApiKey) => StoredApiKey): Change {
  const changed = (found: KeyWithUsage): KeyWithUsage => ({ ...found, key: change(found.key) });
  return withKeys((real) => ({
    find: (id) => real.find(id).map((found) => found && changed(found)),
  }));
}

function withKeys(change: (keys: KeyStorage) => Partial<KeyStorage>): Change {
  return (storage) => ({ ...storage, keys: { ...storage.keys, ...change(storage.keys) } });
}
