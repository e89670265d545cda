import assert from "node:assert/strict";
import { NO_USAGE } from "@petstore/core";
import {
  assertFails,
  chargeOnce,
  insertKeys,
  listKeys,
  presentedKeyOf,
  setUsage,
  usageOf,
  valueOf,
} from "./calls.js";
import type { StorageRequirement } from "./requirement.js";
import { aKey, aSecret, aUsage } from "./samples.js";

/** The requirements of `KeyStorage.import`. */
export const importRequirements: readonly StorageRequirement[] = [
  {
    name: "imports exactly the API keys whose ids are not taken, with their secrets and usage, and counts them",
    async check(open) {
      const storage = await open();
      await insertKeys(storage, "b", "other");
      await setUsage(storage, "b", aUsage());
      const secrets = [aSecret("newer", { expiresAt: 1 }), aSecret("older", { hint: "a hint" })];
      const moved = [
        { key: aKey("c", { label: "c", revokedAt: 3, secrets }), usage: aUsage({ bans: 2 }) },
        { key: aKey("b", { label: "another" }), usage: aUsage({ dayUsed: 1 }) },
        { key: aKey("a", { expiresAt: 2 }), usage: NO_USAGE },
      ];
      assert.equal(await valueOf(storage.keys.import(moved)), 2);
      const all = [
        moved[2],
        { key: aKey("b"), usage: aUsage() },
        moved[0],
        { key: aKey("other"), usage: NO_USAGE },
      ];
      assert.deepEqual(await listKeys(storage), all);
      assert.equal((await presentedKeyOf(storage, "older"))?.usage.bans, 2);
      assert.equal(await chargeOnce(storage, "digest of a"), 0);
      assert.equal(await valueOf(storage.keys.import(moved)), 0, "a repeat must add nothing");
      assert.equal(await valueOf(storage.keys.import([])), 0);
    },
  },
  {
    name: "imports all API keys or, if a digest is taken, none",
    async check(open) {
      const storage = await open();
      await insertKeys(storage, "there");
      const before = await listKeys(storage);
      const taking = (secrets = [aSecret("new"), aSecret("digest of there")]) =>
        aKey("z", { secrets });
      for (const last of [taking(), taking([aSecret("digest of 7")])]) {
        const keys = [...Array.from({ length: 1_500 }, (_, index) => aKey(`${index}`)), last];
        const moved = keys.map((key) => ({ key, usage: aUsage() }));
        await assertFails(() => storage.keys.import(moved));
        assert.deepEqual(await listKeys(storage), before);
        assert.equal(await presentedKeyOf(storage, "digest of 7"), undefined);
      }
      await insertKeys(storage, "7");
      assert.deepEqual(await usageOf(storage, "7"), NO_USAGE);
    },
  },
];
