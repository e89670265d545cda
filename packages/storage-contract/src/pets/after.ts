import assert from "node:assert/strict";
import { INT64_MAX, INT64_MIN } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

export const after: StoragePromise = {
  name: "lists after any int64, be it the id of a pet or not",
  async check(open) {
    const storage = await open();
    for (let count = 0; count < 3; count += 1) await valueOf(storage.pets.create(aPet()));
    const all = await everyPet(storage);
    const lastId = all.at(-1)?.id ?? 0n;

    for (const status of [undefined, "available"] as const) {
      for (const before of [0n, -1n, INT64_MIN]) {
        assert.deepEqual(await everyPet(storage, { status, after: before }), all);
      }
      for (const beyond of [lastId, lastId + 1n, 2n ** 53n + 1n, INT64_MAX]) {
        const page = await valueOf(storage.pets.list({ limit: 10, status, after: beyond }));
        assert.deepEqual(page.pets, []);
        assert.equal(page.next, undefined);
      }
    }
  },
};
