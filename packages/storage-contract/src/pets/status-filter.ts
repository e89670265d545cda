import assert from "node:assert/strict";
import { petStatuses } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";
import { everyPet } from "./every-pet.js";

export const statusFilter: StoragePromise = {
  name: "lists exactly the pets with the status that is asked for, over all pages",
  async check(open) {
    const storage = await open();
    const created = [];
    for (let count = 0; count < 15; count += 1) {
      const status = petStatuses[count % 2] ?? "available";
      created.push(await valueOf(storage.pets.create(aPet({ status }))));
    }
    for (const status of petStatuses) {
      assert.deepEqual(
        await everyPet(storage, { status, limit: 3 }),
        created.filter((pet) => pet.status === status),
      );
    }
  },
};
