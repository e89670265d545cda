import assert from "node:assert/strict";
import type { Storage } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, oneMore, usedTimes } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const twoHandles: StoragePromise = {
  name: "counts together what comes through two storages on the same data, also at once",
  needs: "sharing",
  async check(open) {
    const [one, other] = [await open(), await open()];
    await valueOf(one.keys.insert(aKey("a")));
    const charge = (storage: Storage): Promise<number> =>
      valueOf(
        storage.usage.charge("digest of a", (holder) => {
          assert.ok(holder);
          return { next: oneMore(holder.usage), result: holder.usage.minuteUsed };
        }),
      );
    const before = [];
    for (let round = 0; round < 10; round += 1) {
      const storages = Array.from({ length: 5 }, () => [one, other]).flat();
      before.push(...(await Promise.all(storages.map(charge))));
    }
    assert.equal(new Set(before).size, 100, "two charges saw the same usage");
    for (const storage of [one, other]) {
      assert.deepEqual((await valueOf(storage.keys.find("a")))?.usage, usedTimes(100));
    }
  },
};
