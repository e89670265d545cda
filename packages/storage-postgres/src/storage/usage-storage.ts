import type { Usage, UsageStorage } from "@petstore/core/storage";
import { isText } from "@petstore/core/internal";
import { AGAIN, CallFailure, createChargedUsage } from "@petstore/storage-sql";
import { createGroupCommit, createTurns } from "@petstore/storage-sql";
import type { Call, Outcome, UsageSubject, UsageTransaction } from "@petstore/storage-sql";
import { ok } from "neverthrow";
import { createLookUp, type CallSettings } from "../commit/calls.js";
import type { Writer } from "../commit/writer.js";
import type { DatabaseClock } from "../database/database-clock.js";
import { randomStamp } from "./api-key-usage.js";
import type { ApiKeyUsage, StampedKey, StampedUsage } from "./api-key-usage.js";

/**
 * How many turns of the event loop charges wait for others, if there are others. Callers whose calls ended together
 * send their next requests within these turns, and one statement for all costs little more than for one of them.
 */
const GATHER_TURNS = 16;

export function createPostgresUsageStorage(
  table: ApiKeyUsage,
  writer: Writer,
  clock: DatabaseClock,
  settings: CallSettings,
) {
  const charges = createGroupCommit<UsageTransaction, UsageSubject>({
    ...settings,
    kind: { storage: "postgres", group: "charges" },
    turns: createTurns(GATHER_TURNS),
    commit: commitUsage(table, writer, clock, settings.now),
  });
  const findAll = async (digests: readonly string[]) => {
    const found = await table.findByDigests([...new Set(digests)]);
    const byDigest = new Map(found.map(({ digest, presented }) => [digest, presented]));
    return (digest: string) => byDigest.get(digest);
  };
  const keys = createLookUp("Finding an API key", settings, findAll);
  const findByDigest: UsageStorage["findByDigest"] = (digest) =>
    isText(digest) ? keys.find(digest) : Promise.resolve(ok(undefined));
  const close = () => Promise.all([charges.close(), keys.close()]);
  return { usage: createChargedUsage(findByDigest, charges), close };
}

/**
 * Reads the usage of all keys, decides, and saves each changed usage if the row is still as it was read. If
 * another process has changed the row, the calls of its key run again. No lock is held between the statements.
 * If all keys were charged recently, their usage is remembered, and nothing is read.
 */
function commitUsage(table: ApiKeyUsage, writer: Writer, clock: DatabaseClock, now: () => number) {
  const recent = createRecentKeys(now);

  const read = async (subjects: readonly UsageSubject[]): Promise<BatchUsage> => {
    const digests = distinct(subjects.map(({ digest }) => digest));
    const keyIds = distinct(subjects.map(({ keyId }) => keyId));
    const remembered = keyIds.length === 0 ? recent.find(digests) : undefined;
    if (remembered) return batchUsage(remembered, [], true);
    const sentAt = now();
    const keys = digests.length > 0 ? await table.findByDigests(digests) : [];
    const [first] = keys;
    if (first) clock.observe(first.readAt, sentAt, now());
    return batchUsage(keys, keyIds.length > 0 ? await table.find(keyIds) : [], false);
  };

  const save = async ({ keys, changed, stampOf }: BatchUsage) => {
    const keyIds = [...changed.keys()];
    const expected = keyIds.map(stampOf);
    const usages = [...changed.values()];
    const stamp = randomStamp();
    const written =
      changed.size > 0 ? await writer.write(table.save, { keyIds, expected, usages, stamp }) : [];
    const positions = new Set(written.map(Number));
    const saved = new Map([...changed].filter((_, index) => positions.has(index + 1)));
    if (saved.size < changed.size) recent.pause();
    recent.keep(keys, saved, stamp);
    return saved;
  };

  return async <T>(calls: readonly Call<UsageTransaction, UsageSubject, T>[]) => {
    const usage = await read(calls.map(({ subject }) => subject));
    const { changed } = usage;
    const outcomes = calls.map(({ work }): Outcome<T> => {
      try {
        return work(usage);
      } catch (error) {
        return new CallFailure(error);
      }
    });
    const saved = await save(usage);
    return outcomes.map((outcome, index) => {
      const { digest, keyId = "" } = calls[index]?.subject ?? {};
      const id = digest === undefined ? keyId : usage.findByDigest(digest)?.key.id;
      if (id === undefined || saved.has(id)) return outcome;
      return changed.has(id) || usage.isRemembered ? AGAIN : outcome;
    });
  };
}

type BatchUsage = ReturnType<typeof batchUsage>;

/**
 * Returns the transaction of a batch, with the usage that it decides on and what it has changed. A key that was read by
 * its secret and by its id has the usage and the stamp of the first reading.
 * @param isRemembered whether it was read for an earlier batch.
 */
function batchUsage(
  keys: readonly StampedKey[],
  usages: readonly StampedUsage[],
  isRemembered: boolean,
) {
  const byDigest = new Map(keys.map(({ digest, presented }) => [digest, presented]));
  const byKeyId = new Map(usages.map((read) => [read.keyId, read]));
  for (const { presented, stamp } of keys)
    byKeyId.set(presented.key.id, { keyId: presented.key.id, usage: presented.usage, stamp });
  const changed = new Map<string, Usage>();
  return {
    keys,
    isRemembered,
    changed,
    findByDigest: (digest: string) => {
      const presented = byDigest.get(digest);
      const used = presented && changed.get(presented.key.id);
      return used ? { ...presented, usage: used } : presented;
    },
    find: (keyId: string) => changed.get(keyId) ?? byKeyId.get(keyId)?.usage,
    save: (keyId: string, used: Usage) => void changed.set(keyId, used),
    stampOf: (keyId: string) => byKeyId.get(keyId)?.stamp ?? "",
  };
}

/** Returns the texts that PostgreSQL can store, each once: it refuses U+0000, and a lone surrogate would become U+FFFD. */
function distinct(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts)].filter(isText);
}

/** How long a key is used before it is read again, in milliseconds. A read also observes the clock of the database. */
const LONGEST_USE = 1_000;

/** How long nothing is remembered after a save was lost, in milliseconds. A lost save costs one more statement. */
const PAUSE = 10_000;

/**
 * Creates the memory of the keys that this process has charged in the last second, with the usage that it saved. While
 * no other process changes a key, it is charged without being read again. A decision on remembered usage counts only
 * if it is saved: a save compares the stamp of the row, which each change of the key or its usage renews.
 * @param now Milliseconds of a clock that is never set.
 */
function createRecentKeys(now: () => number) {
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
  const isUpToDate = (read: StampedKey): boolean => byKey.get(read.presented.key.id) === read;
  return {
    /** Returns the keys of all these secrets; `undefined` if one of them has to be read. */
    find: (digests: readonly string[]): readonly StampedKey[] | undefined => {
      if (now() >= clearAt) clear();
      const found = digests.flatMap((digest) => byDigest.get(digest) ?? []).filter(isUpToDate);
      return found.length === digests.length ? found : undefined;
    },
    /** Remembers the keys whose usage was saved, with the stamp of their rows. Forgets the others. */
    keep: (keys: readonly StampedKey[], saved: ReadonlyMap<string, Usage>, stamp: string): void => {
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
    /** Forgets all keys, and remembers none for a while: another process changes the same keys. */
    pause: (): void => {
      clear();
      resumeAt = now() + PAUSE;
    },
  };
}
