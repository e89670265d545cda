import { systemRandom, type UsageStorage } from "@petstore/core";
import {
  AGAIN,
  CallFailure,
  createGroupCommit,
  createUsageStorage as createSqlUsageStorage,
  createUsageTransaction,
  type Commit,
  type Outcome,
  type Request,
  type UsageReader,
  type UsageSubject,
  type UsageTransaction,
} from "@petstore/storage-sql";
import { ok } from "neverthrow";
import type { Writer } from "../commit/writer.js";
import type { DatabaseClock } from "../database/database-clock.js";
import type { ApiKeyUsage } from "../tables/api-key-usage.js";
import { createLookUp, type GroupSettings } from "./look-up.js";
import { isText } from "./text.js";

/** The table that holds usage, and how calls reach it. */
export interface UsageStorageOptions {
  readonly table: ApiKeyUsage;
  readonly writer: Writer;
  readonly clock: DatabaseClock;
  readonly group: GroupSettings;
}

/** Creates the storage of usage. `close` resolves when its calls are settled. */
export function createUsageStorage(options: UsageStorageOptions): {
  readonly usage: UsageStorage;
  readonly close: () => Promise<void>;
} {
  const { table, group } = options;
  const charging = createGroupCommit<UsageTransaction, UsageSubject>({
    ...group,
    commit: commitUsage(options),
  });
  const holders = createLookUp({
    group,
    read: async (digests: readonly string[]) =>
      (await table.findHolders(digests)).map(({ digest, holder }) => [digest, holder] as const),
  });
  const findHolder: UsageStorage["findHolder"] = (digest) =>
    isText(digest) ? holders.find("Finding an API key", digest) : Promise.resolve(ok(undefined));
  return {
    usage: createSqlUsageStorage(findHolder, charging),
    close: async () => {
      await Promise.all([charging.close(), holders.close()]);
    },
  };
}

/**
 * Reads the usage of all keys, decides, and saves each changed usage if the row is still as it was read. If
 * another process has changed the row, the calls of its key run again. No lock is held between the statements.
 */
function commitUsage({
  table,
  writer,
  clock,
  group,
}: UsageStorageOptions): Commit<UsageTransaction, UsageSubject> {
  const read = async (subjects: readonly UsageSubject[]): Promise<UsageReader & StampReader> => {
    const digests = distinct(subjects.map(({ digest }) => digest));
    const keyIds = distinct(subjects.map(({ keyId }) => keyId));
    const sentAt = group.now();
    const holders = digests.length > 0 ? await table.findHolders(digests) : [];
    const [first] = holders;
    if (first) clock.observe(first.readAt, sentAt, group.now());
    const usages = keyIds.length > 0 ? await table.find(keyIds) : [];
    const byDigest = new Map(holders.map(({ digest, holder }) => [digest, holder]));
    const byKeyId = new Map(usages.map(({ keyId, usage }) => [keyId, usage]));
    const stamps = new Map([
      ...holders.map(({ holder, stamp }) => [holder.key.id, stamp] as const),
      ...usages.map(({ keyId, stamp }) => [keyId, stamp] as const),
    ]);
    return {
      findHolder: (digest) => byDigest.get(digest),
      find: (keyId) => byKeyId.get(keyId),
      stampOf: (keyId) => stamps.get(keyId) ?? "",
    };
  };

  /** Saves each changed usage. Returns the ids of the keys whose rows another process has changed. */
  const save = async (
    { changed }: UsageTransaction,
    { stampOf }: StampReader,
  ): Promise<ReadonlySet<string>> => {
    if (changed.size === 0) return new Set();
    const keyIds = [...changed.keys()];
    const written = await writer.write(table.save, {
      keyIds,
      shown: keyIds.map(stampOf),
      usages: [...changed.values()],
      stamp: randomStamp(),
    });
    const saved = new Set(written.map(Number));
    return new Set(keyIds.filter((_, index) => !saved.has(index + 1)));
  };

  return async <T>(calls: readonly Request<UsageTransaction, UsageSubject, T>[]) => {
    const shown = await read(calls.map(({ subject }) => subject));
    const transaction = createUsageTransaction(shown);
    const outcomes = calls.map(({ work }): Outcome<T> => {
      try {
        return work(transaction);
      } catch (error) {
        return new CallFailure(error);
      }
    });
    const lost = await save(transaction, shown);
    return outcomes.map((outcome, index) => {
      const { digest, keyId = "" } = calls[index]?.subject ?? {};
      const id = digest === undefined ? keyId : shown.findHolder(digest)?.key.id;
      return id !== undefined && lost.has(id) ? AGAIN : outcome;
    });
  };
}

interface StampReader {
  readonly stampOf: (keyId: string) => string;
}

/** Returns the texts that PostgreSQL can store, each of them once. */
function distinct(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts)].flatMap((text) => (text !== undefined && isText(text) ? text : []));
}

/** A random int8. No two changes of a row have the same. */
export function randomStamp(): string {
  return Buffer.from(systemRandom(8)).readBigInt64BE().toString();
}
