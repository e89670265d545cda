import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, aSecret, oneMore, usedTimes } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const twoSecrets: StoragePromise = {
  name: "counts together what comes with different secrets of one key, also at once",
  async check(open) {
    const storage = await open();
    const secrets = [aSecret("new"), aSecret("old")];
    await valueOf(storage.keys.insert(aKey("a", { secrets })));

    const charge = (digest: string): Promise<void> =>
      valueOf(
        storage.usage.charge(digest, (holder) => ({
          next: holder && oneMore(holder.usage),
          result: undefined,
        })),
      );
    const byId = (): Promise<void> =>
      valueOf(
        storage.usage.update("a", (usage) => ({
          next: usage && oneMore(usage),
          result: undefined,
        })),
      );
    await Promise.all(
      Array.from({ length: 20 }, () => [charge("new"), charge("old"), byId()]).flat(),
    );
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.usage, usedTimes(60));
  },
};
