import assert from "node:assert/strict";
import { valueOf } from "../answers.js";
import { aKey, aUsage } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

export const banned: StoragePromise = {
  name: "lists the API keys that remember a ban, and only these",
  async check(open) {
    const storage = await open();
    for (const id of ["a", "b", "c", "d", "e"]) await valueOf(storage.keys.insert(aKey(id)));
    const remember = async (id: string, bans: number): Promise<void> => {
      await valueOf(
        storage.usage.update(id, () => ({ next: aUsage({ bans }), result: undefined })),
      );
    };
    for (const [id, bans] of [
      ["a", 1],
      ["b", 0],
      ["d", 7],
      ["e", 2],
    ] as const) {
      await remember(id, bans);
    }
    const list = async (limit: number, after?: string): Promise<readonly string[]> => {
      const page = await valueOf(storage.keys.list({ limit, after, banned: true }));
      return page.map(({ key }) => key.id);
    };

    assert.deepEqual(await list(10), ["a", "d", "e"]);
    assert.deepEqual(await list(2), ["a", "d"]);
    assert.deepEqual(await list(2, "a"), ["d", "e"]);
    const [first] = await valueOf(storage.keys.list({ limit: 1, after: undefined, banned: true }));
    assert.deepEqual(first, { key: aKey("a"), usage: aUsage({ bans: 1 }) });

    await remember("a", 0);
    assert.deepEqual(await list(10), ["d", "e"]);
  },
};
