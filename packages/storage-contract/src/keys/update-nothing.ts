import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const keyUpdateNothing: StoragePromise = {
  name: "leaves an API key as it is when the decision names no next, or what it was shown",
  async check(open) {
    const storage = await open();
    await valueOf(storage.keys.insert(aKey("a")));
    const answers = [
      await valueOf(storage.keys.update("a", () => ({ result: "left out" }))),
      await valueOf(storage.keys.update("a", () => ({ next: undefined, result: "undefined" }))),
      await valueOf(storage.keys.update("a", (shown) => ({ next: shown, result: "shown" }))),
    ];
    assert.deepEqual(answers, ["left out", "undefined", "shown"]);
    assert.deepEqual((await valueOf(storage.keys.find("a")))?.key, aKey("a"));
  },
};
