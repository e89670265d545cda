import { NO_USAGE, type Usage, type UsageStorage } from "@petstore/core";
import type { Change } from "./memory-place.js";

/** Storages whose usage breaks one promise each, by the name of the promise. */
export const brokenUsage: readonly (readonly [promise: string, flaw: string, Change])[] = [
  [
    "shows who presented a secret: the key, the secret's expiry, and no usage at first",
    "forgets when the secret expires",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real.charge(digest, (holder) =>
          decide(holder && { ...holder, secretExpiresAt: undefined }),
        ),
    })),
  ],
  [
    "shows who presented a secret: the key, the secret's expiry, and no usage at first",
    "takes a revocation at 0 for none",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real.charge(digest, (holder) =>
          decide(
            holder?.key.revokedAt === 0
              ? { ...holder, key: { ...holder.key, revokedAt: undefined } }
              : holder,
          ),
        ),
    })),
  ],
  [
    "shows undefined for a secret that no key has, and stores nothing then",
    "charges another key instead",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real
          .charge(digest, (holder) => {
            const step = decide(holder);
            return { next: step.next, result: { step, missed: holder === undefined } };
          })
          .andThen(({ step: { next, result }, missed }) =>
            real.update("a", () => ({ next: missed ? next : undefined, result })),
          ),
    })),
  ],
  [
    "keeps every field of a usage exact, up to 2^53−1, wherever it is shown",
    "counts in 32 bits",
    storing((usage) => ({ ...usage, minuteUsed: usage.minuteUsed | 0 })),
  ],
  [
    "keeps every field of a usage exact, up to 2^53−1, wherever it is shown",
    "forgets when the ban began",
    storing((usage) => ({ ...usage, bannedAt: 0 })),
  ],
  [
    "counts every one of many concurrent charges, for each key apart",
    "reads and writes in two steps",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real
          .charge(digest, (holder) => ({ result: holder }))
          .andThen((holder) => real.charge(digest, () => decide(holder))),
    })),
  ],
  [
    "counts together what comes with different secrets of one key, also at once",
    "keeps a count for each secret",
    cachingByDigest,
  ],
  [
    "counts together what comes through two storages on the same data, also at once",
    "keeps a count in each storage",
    cachingByDigest,
  ],
  [
    "leaves the usage as it is when the decision names no next, or what it was shown",
    "takes no next for no usage",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real.charge(digest, (holder) => {
          const { next = NO_USAGE, result } = decide(holder);
          return { next, result };
        }),
    })),
  ],
  [
    "fails only the charge whose decision throws, and keeps nothing of it",
    "counts before it decides",
    withUsage((real) => ({
      charge: (digest, decide) =>
        real
          .charge(digest, (holder) => ({
            next: holder && { ...holder.usage, refusals: 1 },
            result: holder,
          }))
          .andThen((holder) => real.charge(digest, () => decide(holder))),
    })),
  ],
  [
    "fails only the charge whose decision throws, and keeps nothing of it",
    "lets it throw",
    withUsage((real) => ({
      update: (keyId, decide) => {
        decide(NO_USAGE);
        return real.update(keyId, decide);
      },
    })),
  ],
  [
    "shows undefined as the usage of a key that is not there, and stores nothing then",
    "shows no usage instead",
    withUsage((real) => ({
      update: (keyId, decide) => real.update(keyId, (usage) => decide(usage ?? NO_USAGE)),
    })),
  ],
];

function cachingByDigest(...[storage]: Parameters<Change>): ReturnType<Change> {
  const counts = new Map<string, Usage>();
  return withUsage((real) => ({
    charge: (digest, decide) =>
      real.charge(digest, (holder) => {
        const usage = counts.get(digest) ?? NO_USAGE;
        const step = decide(holder && { ...holder, usage });
        if (step.next) counts.set(digest, step.next);
        return step;
      }),
  }))(storage, 0);
}

function storing(change: (usage: Usage) => Usage): Change {
  return withUsage((real) => ({
    charge: (digest, decide) =>
      real.charge(digest, (holder) => {
        const { next, result } = decide(holder);
        return { next: next && change(next), result };
      }),
  }));
}

function withUsage(change: (usage: UsageStorage) => Partial<UsageStorage>): Change {
  return (storage) => ({ ...storage, usage: { ...storage.usage, ...change(storage.usage) } });
}
