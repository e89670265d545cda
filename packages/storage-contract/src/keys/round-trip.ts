import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import { valueOf } from "../answers.js";
import { aKey, aSecret } from "../samples.js";
import type { StoragePromise } from "../storage-promise.js";

const keys = [
  aKey("bare"),
  aKey("full", {
    plan: "enterprise",
    limits: { perMinute: 1, perDay: Number.MAX_SAFE_INTEGER },
    label: "Ünïcode 🐾 'label'",
    createdAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    revokedAt: 0,
    secrets: [
      aSecret("newest", { expiresAt: 0 }),
      aSecret("middle", { hint: "pet_live_zzzz", expiresAt: Number.MAX_SAFE_INTEGER }),
      aSecret("an older one"),
    ],
  }),
  aKey("empty label", { label: "" }),
];

export const roundTrip: StoragePromise = {
  name: "keeps every field of an API key exact, in find and in list",
  async check(open) {
    const storage = await open();
    for (const key of keys) await valueOf(storage.keys.insert(key));

    for (const key of keys) {
      const found = await valueOf(storage.keys.find(key.id));
      assert.deepEqual(found, { key, usage: NO_USAGE });
    }
    const listed = await valueOf(storage.keys.list({ limit: 10, after: undefined, banned: false }));
    assert.deepEqual(
      new Map(listed.map(({ key }) => [key.id, key])),
      new Map(keys.map((key) => [key.id, key])),
    );
    assert.equal(await valueOf(storage.keys.find("missing")), undefined);
  },
};
