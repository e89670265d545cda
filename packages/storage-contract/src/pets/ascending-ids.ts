import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const ascendingIds: StoragePromise = {
  name: "gives a pet a greater id than every pet before it",
  async check(open) {
    const storage = await open();
    let latest = 0n;
    for (let count = 0; count < 12; count += 1) {
      const { id } = await valueOf(storage.pets.create(aPet()));
      assert.ok(id > latest, `${id} came after ${latest}`);
      latest = id;
    }
  },
};
