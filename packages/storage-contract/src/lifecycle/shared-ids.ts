import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { everyPet } from "../pets/every-pet.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const sharedIds: StoragePromise = {
  name: "gives each pet an id of its own, also when two storages on the same data add at once",
  needs: "sharing",
  async check(open) {
    const [one, other] = [await open(), await open()];
    const created = await Promise.all(
      Array.from({ length: 20 }, () => [one, other])
        .flat()
        .map((storage) => valueOf(storage.pets.create(aPet()))),
    );
    const inOrder = created.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
    assert.deepEqual(await everyPet(one), inOrder);
  },
};
