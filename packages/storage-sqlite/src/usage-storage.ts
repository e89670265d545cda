import type { UsageStorage } from "@petstore/core";
import { ask } from "./decision.js";
import type { UsageBatch } from "./usage-batch.js";
import type { WriteQueue } from "./write-queue.js";

export function createUsageStorage(queue: WriteQueue<UsageBatch>): UsageStorage {
  return {
    charge: (digest, decide) =>
      queue.add("Charging an API key", (batch) => {
        const holder = batch.holder(digest);
        return ask(decide, holder).map(({ next, result }) => {
          if (holder && next && next !== holder.usage) batch.save(holder.key.id, next);
          return result;
        });
      }),
    update: (keyId, decide) =>
      queue.add("Changing the usage of an API key", (batch) => {
        const usage = batch.find(keyId);
        return ask(decide, usage).map(({ next, result }) => {
          if (usage && next && next !== usage) batch.save(keyId, next);
          return result;
        });
      }),
  };
}
