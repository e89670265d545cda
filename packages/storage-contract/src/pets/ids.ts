import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

export const ids: StoragePromise = {
  name: "gives each pet a positive id of its own, also when many are added at once",
  async check(open) {
    const storage = await open();
    const names = Array.from({ length: 50 }, (_, index) => `pet ${index}`);
    const created = await Promise.all(
      names.map((name) => valueOf(storage.pets.create(aPet({ name })))),
    );

    assert.ok(created.every(({ id }) => typeof id === "bigint" && id > 0n));
    assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
    assert.deepEqual(
      created.map(({ name }) => name),
      names,
      "each call is answered with its own pet",
    );
    assert.equal((await everyPet(storage)).length, created.length);
  },
};
