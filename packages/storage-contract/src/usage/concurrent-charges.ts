import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, oneMore, usedTimes } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const concurrentCharges: StoragePromise = {
  name: "counts every one of many concurrent charges, for each key apart",
  async check(open) {
    const storage = await open();
    const ids = ["a", "b", "c"];
    for (const id of ids) await valueOf(storage.keys.insert(aKey(id)));
    const charge = (id: string): Promise<number> =>
      valueOf(
        storage.usage.charge(`digest of ${id}`, (holder) => {
          assert.ok(holder);
          return { next: oneMore(holder.usage), result: holder.usage.dayUsed };
        }),
      );

    const rounds = Array.from({ length: 100 }, () => ids).flat();
    const before = await Promise.all(rounds.map(charge));
    for (const [offset, id] of ids.entries()) {
      const seen = before.filter((_, index) => index % ids.length === offset);
      assert.equal(new Set(seen).size, 100, "two charges saw the same usage");
      assert.deepEqual((await valueOf(storage.keys.find(id)))?.usage, usedTimes(100));
    }
  },
};
