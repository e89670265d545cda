import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const usageUpdateMissing: StoragePromise = {
  name: "shows undefined as the usage of a key that is not there, and stores nothing then",
  async check(open) {
    const storage = await open();
    const shown = await valueOf(
      storage.usage.update("a", (usage) => ({ next: aUsage(), result: [usage] })),
    );
    assert.deepEqual(shown, [undefined]);
    await valueOf(storage.keys.insert(aKey("a")));
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.usage, NO_USAGE);
    assert.deepEqual(
      await valueOf(storage.usage.update("a", (usage) => ({ result: usage }))),
      NO_USAGE,
    );
  },
};
