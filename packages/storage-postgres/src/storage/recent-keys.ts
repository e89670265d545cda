import type { Usage } from "@petstore/core";
import type { StampedKey } from "../tables/api-key-usage.js";

/**
 * The keys that this process has charged in the last second, with the usage that it saved. While no other
 * process changes a key, it is charged without being read again. A decision on remembered usage counts only
 * if it is saved: a save compares the stamp of the row, which each change of the key or its usage renews.
 */
export interface RecentKeys {
  /** Returns the keys of all these secrets; `undefined` if one of them has to be read. */
  find(digests: readonly string[]): readonly StampedKey[] | undefined;
  /** Remembers the keys whose usage was saved, with the stamp of their rows. Forgets the others. */
  keep(keys: readonly StampedKey[], saved: ReadonlyMap<string, Usage>, stamp: string): void;
  /** Forgets all keys, and remembers none for a while: another process changes the same keys. */
  pause(): void;
}

/** How long a key is used before it is read again, in milliseconds. A read also observes the clock of the database. */
const LONGEST_USE = 1_000;

/** How long nothing is remembered after a save was lost, in milliseconds. A lost save costs one more statement. */
const PAUSE = 10_000;

/** @param now Milliseconds of a clock that is never set. */
export function createRecentKeys(now: () => number): RecentKeys {
  const byDigest = new Map<string, StampedKey>();
  /** A key may have two secrets; only the one that was used last is up to date. */
  const byKey = new Map<string, StampedKey>();
  let clearAt = 0;
  let resumeAt = 0;

  const clear = (): void => {
    byDigest.clear();
    byKey.clear();
    clearAt = now() + LONGEST_USE;
  };
  const findOne = (digest: string): readonly StampedKey[] => {
    const found = byDigest.get(digest);
    return found && byKey.get(found.presented.key.id) === found ? [found] : [];
  };
  return {
    find: (digests) => {
      if (now() >= clearAt) clear();
      const found = digests.flatMap(findOne);
      return found.length === digests.length ? found : undefined;
    },
    keep: (keys, saved, stamp) => {
      if (now() < resumeAt) return;
      for (const read of keys) {
        const usage = saved.get(read.presented.key.id);
        byDigest.delete(read.digest);
        if (usage === undefined) continue;
        const kept = { ...read, presented: { ...read.presented, usage }, stamp };
        byDigest.set(read.digest, kept);
        byKey.set(read.presented.key.id, kept);
      }
    },
    pause: () => {
      clear();
      resumeAt = now() + PAUSE;
    },
  };
}
