import assert from "node:assert/strict";
import { NO_USAGE, type KeyHolder } from "@petstore/core";
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
    // 0 is a time as well.
    const ended = aKey("b", {
      expiresAt: 0,
      revokedAt: 0,
      secrets: [aSecret("ended", { expiresAt: 0 })],
    });
    for (const each of [key, ended]) await valueOf(storage.keys.insert(each));

    for (const held of [key, ended]) {
      for (const { digest, expiresAt } of held.secrets) {
        const shown = await valueOf(storage.usage.charge(digest, (each) => ({ result: each })));
        assert.ok(shown);
        assert.deepEqual(whatIsShown(shown.key), whatIsShown(held));
        assert.equal(shown.secretExpiresAt, expiresAt);
        assert.deepEqual(shown.usage, NO_USAGE);
      }
    }
  },
};

/** A storage may show more. */
function whatIsShown({ id, plan, limits, expiresAt, revokedAt }: KeyHolder["key"]) {
  return { id, plan, limits, expiresAt, revokedAt };
}
