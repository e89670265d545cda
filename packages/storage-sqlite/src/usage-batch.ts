import type { KeyHolder, Usage } from "@petstore/core";
import type { ApiKeyUsage } from "./tables/api-key-usage.js";
import type { Batch } from "./committer.js";

/**
 * The usage of keys as one batch of calls sees and changes it: each call sees what those before it
 * stored, by whichever secret of the key they came, and each changed usage is written once.
 */
export interface UsageBatch extends Batch {
  holder(digest: string): KeyHolder | undefined;
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
}

export function createUsageBatch(table: ApiKeyUsage): UsageBatch {
  const holders = new Map<string, KeyHolder | undefined>();
  const changed = new Map<string, Usage>();

  return {
    holder: (digest) => {
      if (!holders.has(digest)) holders.set(digest, table.holder(digest));
      const holder = holders.get(digest);
      const usage = holder && changed.get(holder.key.id);
      if (!holder || !usage) return holder;
      return { key: holder.key, secretExpiresAt: holder.secretExpiresAt, usage };
    },
    find: (keyId) => changed.get(keyId) ?? table.find(keyId),
    save: (keyId, usage) => {
      changed.set(keyId, usage);
    },
    finish: () => {
      for (const [keyId, usage] of changed) table.save(keyId, usage);
    },
  };
}
