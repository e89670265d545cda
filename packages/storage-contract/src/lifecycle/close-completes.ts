import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, aPet, oneMore } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const closeCompletes: StoragePromise = {
  name: "completes what is under way when it is closed",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a")));
    const created = Array.from({ length: 5 }, () => valueOf(storage.pets.create(aPet())));
    const charged = Array.from({ length: 5 }, () =>
      valueOf(
        storage.usage.charge("digest of a", (holder) => ({
          next: holder && oneMore(holder.usage),
          result: holder?.usage.dayUsed,
        })),
      ),
    );
    await valueOf(storage.close());
    assert.equal(new Set((await Promise.all(created)).map(({ id }) => id)).size, 5);
    assert.deepEqual(new Set(await Promise.all(charged)), new Set([0, 1, 2, 3, 4]));
  },
};
