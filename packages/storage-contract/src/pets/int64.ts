import assert from "node:assert/strict";
import { INT64_MAX, INT64_MIN } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

const beyondDouble = 2n ** 53n + 1n;
const categoryIds = [0n, 1n, -1n, beyondDouble, -beyondDouble, INT64_MAX, INT64_MIN];

export const int64: StoragePromise = {
  name: "keeps every int64 categoryId exact",
  async check(open) {
    const storage = await open();
    for (const categoryId of categoryIds) {
      const created = await valueOf(storage.pets.create(aPet({ categoryId })));
      assert.equal(created.categoryId, categoryId);
      const found = await valueOf(storage.pets.find(created.id));
      assert.equal(found?.categoryId, categoryId);
    }
    const listed = await everyPet(storage);
    assert.deepEqual(
      listed.map((pet) => pet.categoryId),
      categoryIds,
    );
  },
};
