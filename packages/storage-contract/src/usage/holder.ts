import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aSecret } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const holder: StoragePromise = {
  name: "shows who presented a secret: the key, the secret's expiry, and no usage at first",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("other")));
    const key = aKey("a", {
      plan: "enterprise",
      limits: { perMinute: 3, perDay: 4 },
      expiresAt: 5,
      revokedAt: 6,
      secrets: [aSecret("new"), aSecret("old", { expiresAt: 7 })],
    });
    await valueOf(storage.keys.insert(key));

    for (const { digest, expiresAt } of key.secrets) {
      const shown = await valueOf(storage.usage.charge(digest, (each) => ({ answer: each })));
      assert.ok(shown);
      const { id, plan, limits, expiresAt: keyExpiresAt, revokedAt } = shown.key;
      assert.deepEqual(
        { id, plan, limits, keyExpiresAt, revokedAt },
        { id: "a", plan: "enterprise", limits: key.limits, keyExpiresAt: 5, revokedAt: 6 },
      );
      assert.equal(shown.secretExpiresAt, expiresAt);
      assert.deepEqual(shown.usage, NO_USAGE);
    }
  },
};
