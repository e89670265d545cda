import assert from "node:assert/strict";
import type { Pet } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const paging: StoragePromise = {
  name: "ends a page where its limit says, and tells whether another one follows",
  async check(open) {
    const storage = await open();
    const created: Pet[] = [];
    for (let count = 0; count < 6; count += 1) {
      // Of another status than the others: must not count as a next pet on a page by status.
      const status = count < 5 ? "available" : "sold";
      created.push(await valueOf(storage.pets.create(aPet({ status }))));
    }

    for (const status of [undefined, "available"] as const) {
      const inOrder = created.filter((pet) => status === undefined || pet.status === status);
      for (let start = 0; start <= inOrder.length; start += 1) {
        for (let limit = 1; limit <= inOrder.length + 1; limit += 1) {
          const after = inOrder[start - 1]?.id;
          const page = await valueOf(storage.pets.list({ limit, status, after }));
          const end = start + limit;
          assert.deepEqual(page.pets, inOrder.slice(start, end));
          const next = end < inOrder.length ? inOrder[end - 1]?.id : undefined;
          assert.equal(page.next, next, `next after ${limit} from ${start} of ${inOrder.length}`);
        }
      }
    }
  },
};
