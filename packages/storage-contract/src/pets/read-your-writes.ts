import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aPet } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const readYourWrites: StoragePromise = {
  name: "shows a pet in the very next list after it was added",
  async check(open) {
    const storage = await open();
    const query = { limit: 100, status: "sold", after: undefined } as const;
    for (let count = 1; count <= 10; count += 1) {
      const created = await valueOf(storage.pets.create(aPet({ status: "sold" })));
      const page = await valueOf(storage.pets.list(query));
      assert.equal(page.pets.length, count);
      assert.deepEqual(page.pets.at(-1), created);
    }
  },
};
