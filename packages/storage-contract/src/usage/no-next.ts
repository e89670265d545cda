import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const noNext: StoragePromise = {
  name: "leaves the usage as it is when the decision names no next, or what it was shown",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a")));
    for (const usage of [NO_USAGE, aUsage()]) {
      await valueOf(storage.usage.update("a", () => ({ next: usage, result: undefined })));
      const answers = await Promise.all([
        valueOf(storage.usage.charge("digest of a", () => ({ result: 1 }))),
        valueOf(storage.usage.charge("digest of a", () => ({ next: undefined, result: 2 }))),
        valueOf(
          storage.usage.charge("digest of a", (shown) => ({ next: shown?.usage, result: 3 })),
        ),
        valueOf(storage.usage.update("a", () => ({ result: 4 }))),
        valueOf(storage.usage.update("a", (shown) => ({ next: shown, result: 5 }))),
      ]);
      assert.deepEqual(answers, [1, 2, 3, 4, 5]);
      assert.deepEqual((await valueOf(storage.keys.find("a")))?.usage, usage);
    }
  },
};
