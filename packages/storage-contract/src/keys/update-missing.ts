import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const keyUpdateMissing: StoragePromise = {
  name: "shows undefined for an API key that is not there, and stores nothing then",
  async check(open) {
    const storage = await open();
    const shown = await valueOf(
      storage.keys.update("missing", (key) => ({ next: aKey("missing"), result: [key] })),
    );
    assert.deepEqual(shown, [undefined]);
    assert.equal(await valueOf(storage.keys.find("missing")), undefined);
    assert.deepEqual(
      await valueOf(storage.keys.list({ limit: 10, after: undefined, banned: false })),
      [],
    );
  },
};
