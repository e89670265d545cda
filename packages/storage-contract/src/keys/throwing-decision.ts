import assert from "node:assert/strict";
import { failureOf, valueOf } from "../answers.js";
import { aKey } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const keyThrowingDecision: StoragePromise = {
  name: "fails only the change of an API key whose decision throws",
  async check(open) {
    const storage = await open();
    for (const id of ["a", "b"]) await valueOf(storage.keys.insert(aKey(id)));
    const relabel = (id: string) =>
      valueOf(
        storage.keys.update(id, (shown) => ({
          next: shown && { ...shown, label: "changed" },
          result: 1,
        })),
      );
    const throwing = failureOf(() =>
      storage.keys.update("a", () => {
        throw new Error("a decision that throws");
      }),
    );
    await Promise.all([relabel("b"), throwing]);
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.key, aKey("a"));
    assert.equal((await valueOf(storage.keys.find("b")))?.key.label, "changed");
    await relabel("a");
    assert.equal((await valueOf(storage.keys.find("a")))?.key.label, "changed");
  },
};
