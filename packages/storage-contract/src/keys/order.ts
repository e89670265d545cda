import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

const inOrder = ["-", "0", "00", "9", "A", "Z", "_", "a", "aa", "z"];

export const keyOrder: StoragePromise = {
  name: "lists API keys in ascending order of id, byte by byte, page after page",
  async check(open) {
    const storage = await open();
    for (const id of inOrder.toReversed()) await valueOf(storage.keys.insert(aKey(id)));

    for (let start = 0; start <= inOrder.length; start += 1) {
      const after = inOrder[start - 1];
      for (const limit of [1, 3, inOrder.length + 1]) {
        const page = await valueOf(storage.keys.list({ limit, after, banned: false }));
        assert.deepEqual(
          page.map(({ key }) => key.id),
          inOrder.slice(start, start + limit),
        );
      }
    }
    const between = await valueOf(storage.keys.list({ limit: 2, after: "B", banned: false }));
    assert.deepEqual(
      between.map(({ key }) => key.id),
      ["Z", "_"],
    );
  },
};
