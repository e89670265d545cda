import assert from "node:assert/strict";
import type { Usage } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

const greatest = Number.MAX_SAFE_INTEGER;
const usages: readonly Usage[] = [
  aUsage(),
  {
    minuteOpenedAt: greatest,
    minuteUsed: greatest,
    dayOpenedAt: greatest,
    dayUsed: greatest,
    refusals: greatest,
    bans: greatest,
    bannedAt: greatest,
    lastUsedAt: greatest,
  },
  aUsage({ minuteUsed: greatest - 1, bans: 0 }),
];

export const usageRoundTrip: StoragePromise = {
  name: "keeps every field of a usage exact, up to 2^53−1, wherever it is shown",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a")));
    for (const usage of usages) {
      await valueOf(
        storage.usage.charge("digest of a", () => ({ next: usage, result: undefined })),
      );
      const charged = await valueOf(
        storage.usage.charge("digest of a", (holder) => ({ result: holder?.usage })),
      );
      const updated = await valueOf(storage.usage.update("a", (shown) => ({ result: shown })));
      const found = await valueOf(storage.keys.find("a"));
      const [listed] = await valueOf(
        storage.keys.list({ limit: 1, after: undefined, banned: false }),
      );
      for (const shown of [charged, updated, found?.usage, listed?.usage]) {
        assert.deepEqual(shown, usage);
      }
    }
  },
};
