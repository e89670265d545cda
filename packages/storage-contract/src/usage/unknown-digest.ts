import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const unknownDigest: StoragePromise = {
  name: "shows undefined for a secret that no key has, and stores nothing then",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a")));
    for (const digest of ["unknown", "", "a", "DIGEST OF A"]) {
      const shown = await valueOf(
        storage.usage.charge(digest, (holder) => ({ next: aUsage(), result: [holder] })),
      );
      assert.deepEqual(shown, [undefined]);
    }
    const keys = await valueOf(storage.keys.list({ limit: 10, after: undefined, banned: false }));
    assert.deepEqual(keys, [{ key: aKey("a"), usage: NO_USAGE }]);
  },
};
