import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const keyUpdateAtomic: StoragePromise = {
  name: "shows each of many concurrent changes of an API key what the one before it stored",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a", { createdAt: 0 })));
    const counts = await Promise.all(
      Array.from({ length: 40 }, () =>
        valueOf(
          storage.keys.update("a", (shown) => {
            assert.ok(shown);
            const createdAt = shown.createdAt + 1;
            return { next: { ...shown, createdAt }, result: createdAt };
          }),
        ),
      ),
    );
    assert.equal(new Set(counts).size, 40);
    assert.equal((await valueOf(storage.keys.find("a")))?.key.createdAt, 40);
  },
};
