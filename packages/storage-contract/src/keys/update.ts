import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, aSecret, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const keyUpdate: StoragePromise = {
  name: "changes an API key to what is decided on, and no other key, and not its usage",
  async check(open) {
    const storage = await open();
    for (const id of ["a", "b"]) await valueOf(storage.keys.insert(aKey(id)));
    await valueOf(storage.usage.update("a", () => ({ next: aUsage(), result: undefined })));

    const changed = aKey("a", {
      plan: "pro",
      limits: { perMinute: 3, perDay: 4 },
      label: "now with a label",
      createdAt: 5,
      expiresAt: 6,
      revokedAt: 7,
      secrets: [aSecret("another digest", { hint: "another hint", expiresAt: 8 })],
    });
    for (const next of [changed, aKey("a")]) {
      const result = await valueOf(
        storage.keys.update("a", (shown) => ({ next, result: shown?.plan })),
      );
      assert.equal(result, next === changed ? "free" : "pro");
      assert.deepEqual(await valueOf(storage.keys.find("a")), { key: next, usage: aUsage() });
    }
    assert.deepEqual((await valueOf(storage.keys.find("b")))?.key, aKey("b"));

    // The id is not for a decision to change.
    const secrets = [aSecret("a digest of neither")];
    const renamed = aKey("b", { secrets });
    await valueOf(storage.keys.update("a", () => ({ next: renamed, result: undefined })));
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.key, aKey("a", { secrets }));
    assert.deepEqual((await valueOf(storage.keys.find("b")))?.key, aKey("b"));
  },
};
