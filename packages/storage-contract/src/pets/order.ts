import assert from "node:assert/strict";
import { petStatuses } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

export const order: StoragePromise = {
  name: "lists pets whole and in ascending order of id",
  async check(open) {
    const storage = await open();
    assert.deepEqual(await everyPet(storage), []);
    const created = [];
    for (let count = 0; count < 12; count += 1) {
      const status = petStatuses[(count * 2) % petStatuses.length] ?? "available";
      const pet = aPet({ name: `pet ${12 - count}`, categoryId: BigInt(-count), status });
      created.push(await valueOf(storage.pets.create(pet)));
    }
    assert.deepEqual(await everyPet(storage), created);
  },
};
