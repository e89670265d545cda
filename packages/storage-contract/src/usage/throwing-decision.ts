import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { failureOf, valueOf } from "../answers.js";
import { aKey, oneMore, usedTimes } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const throwingDecision: StoragePromise = {
  name: "fails only the charge whose decision throws, and keeps nothing of it",
  async check(open) {
    const storage = await open();
    for (const id of ["a", "b"]) await valueOf(storage.keys.insert(aKey(id)));
    const charge = (id: string): Promise<void> =>
      valueOf(
        storage.usage.charge(`digest of ${id}`, (holder) => ({
          next: holder && oneMore(holder.usage),
          result: undefined,
        })),
      );
    const explode = (): never => {
      throw new Error("a decision that throws");
    };
    const throwing = () => [
      failureOf(() => storage.usage.charge("digest of b", explode)),
      failureOf(() => storage.usage.update("b", explode)),
      failureOf(() => storage.usage.charge("unknown", explode)),
    ];

    await Promise.all([charge("a"), ...throwing(), charge("a"), ...throwing(), charge("a")]);
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.usage, usedTimes(3));
    assert.deepEqual((await valueOf(storage.keys.find("b")))?.usage, NO_USAGE);
    await charge("b");
    assert.deepEqual((await valueOf(storage.keys.find("b")))?.usage, usedTimes(1));
  },
};
