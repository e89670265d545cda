import assert from "node:assert/strict";
import { petStatuses } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const find: StoragePromise = {
  name: "finds each pet by its id, whole, as it was answered when it was added",
  async check(open) {
    const storage = await open();
    for (const status of petStatuses) {
      const pet = aPet({ name: `a pet that is ${status}`, status });
      const created = await valueOf(storage.pets.create(pet));
      assert.deepEqual(created, { id: created.id, ...pet });
      assert.deepEqual(await valueOf(storage.pets.find(created.id)), created);
    }
  },
};
