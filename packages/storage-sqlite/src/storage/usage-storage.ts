import type { KeyHolder, Usage, UsageStorage } from "@petstore/core";
import type { GroupCommit } from "../commit/group-commit.js";
import type { ApiKeyUsage } from "../tables/api-key-usage.js";

/**
 * Reads and saves the usage of keys in one transaction. A call sees the usage that earlier calls saved,
 * whichever secret of the key they used. Each changed usage is written once, at the end.
 */
export interface UsageTransaction {
  findHolder(digest: string): KeyHolder | undefined;
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
  flush(): void;
}

export function createUsageTransaction(table: ApiKeyUsage): UsageTransaction {
  const holders = new Map<string, KeyHolder | undefined>();
  const changed = new Map<string, Usage>();
  return {
    findHolder: (digest) => {
      if (!holders.has(digest)) holders.set(digest, table.findHolder(digest));
      const holder = holders.get(digest);
      const usage = holder && changed.get(holder.key.id);
      return usage ? { ...holder, usage } : holder;
    },
    find: (keyId) => changed.get(keyId) ?? table.find(keyId),
    save: (keyId, usage) => void changed.set(keyId, usage),
    flush: () => {
      for (const [keyId, usage] of changed) table.save(keyId, usage);
    },
  };
}

export function createUsageStorage(
  table: ApiKeyUsage,
  reading: GroupCommit<unknown>,
  charging: GroupCommit<UsageTransaction>,
): UsageStorage {
  return {
    findHolder: (digest) => reading.add("Finding an API key", () => table.findHolder(digest)),
    charge: (digest, decide) =>
      charging.add("Charging an API key", (transaction) => {
        const holder = transaction.findHolder(digest);
        const { next, result } = decide(holder);
        if (holder && next && next !== holder.usage) transaction.save(holder.key.id, next);
        return result;
      }),
    update: (keyId, decide) =>
      charging.add("Changing the usage of an API key", (transaction) => {
        const usage = transaction.find(keyId);
        const { next, result } = decide(usage);
        if (usage && next && next !== usage) transaction.save(keyId, next);
        return result;
      }),
  };
}
