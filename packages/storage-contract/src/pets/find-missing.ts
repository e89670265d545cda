import assert from "node:assert/strict";
import { INT64_MAX, INT64_MIN } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const findMissing: StoragePromise = {
  name: "answers undefined for an id that no pet has",
  async check(open) {
    const storage = await open();
    assert.equal(await valueOf(storage.pets.find(1n)), undefined);
    const { id } = await valueOf(storage.pets.create(aPet()));
    // An id read as a double would be found beside itself; one cut to 32 bits, 2^32 further.
    const missing = [id + 1n, id - 1n, -id, 0n, id + 2n ** 32n, 2n ** 53n + 1n];
    for (const each of [...missing, INT64_MAX, INT64_MIN]) {
      assert.equal(await valueOf(storage.pets.find(each)), undefined, `found ${each}`);
    }
  },
};
