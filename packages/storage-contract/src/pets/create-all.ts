import assert from "node:assert/strict";
import { INT64_MAX, INT64_MIN, petStatuses } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

const categoryIds = [INT64_MAX, INT64_MIN, 2n ** 53n + 1n, 0n];

export const createAll: StoragePromise = {
  name: "adds several pets together as it adds one, with ascending ids in the order given",
  async check(open) {
    const storage = await open();
    const pets = Array.from({ length: 1_000 }, (_, index) =>
      aPet({
        name: `pet ${1_000 - index} 🐈`,
        categoryId: categoryIds[index % categoryIds.length] ?? 0n,
        status: petStatuses[index % petStatuses.length] ?? "sold",
      }),
    );
    const [before, together, none, after] = await Promise.all([
      valueOf(storage.pets.create(aPet())),
      valueOf(storage.pets.createAll(pets)),
      valueOf(storage.pets.createAll([])),
      valueOf(storage.pets.create(aPet())),
    ]);

    assert.deepEqual(none, []);
    assert.deepEqual(
      together.map(({ name, categoryId, status }) => ({ name, categoryId, status })),
      pets,
    );
    const inOrder = together.every(({ id }, index) => id > (together[index - 1]?.id ?? 0n));
    assert.ok(inOrder, "ids ascend in the order given");
    const all = await everyPet(storage);
    assert.equal(all.length, pets.length + 2);
    assert.deepEqual(new Set(all), new Set([before, ...together, after]));
    const [first] = together;
    assert.deepEqual(first && (await valueOf(storage.pets.find(first.id))), first);
  },
};
