import assert from "node:assert/strict";
import type { Pet } from "@petstore/core";
import { NO_USAGE } from "@petstore/core/storage";
import {
  allPets,
  assertFails,
  chargeOnce,
  createPets,
  insertKeys,
  listKeys,
  presentedKeyOf,
  setUsage,
  usageOf,
  valueOf,
} from "./calls.js";
import type { StorageRequirement } from "./requirement.js";
import { aKey, aPet, aSecret, aUsage } from "./samples.js";

/** The requirements of `PetStorage.import` and `KeyStorage.import`. */
export const importRequirements: readonly StorageRequirement[] = [
  {
    name: "imports the pets that are missing under their ids, or, if another pet has one, none; later ids are greater",
    async check(open) {
      const storage = await open();
      const [first] = await createPets(storage, [aPet({ name: "first" })]);
      assert.ok(first);
      const last = first.id + 2n ** 60n;
      const moved = [last, first.id + 3n, first.id + 2n].map((id) => ({ ...aPet(), id }));
      const expected = [first, ...moved.toReversed()];
      const one: Pet = { ...aPet(), id: last };
      assert.equal((await valueOf(storage.pets.import([...moved, first, one]))).added, 3);
      assert.deepEqual(await allPets(storage), expected);
      for (const change of [{ name: "" }, { categoryId: 8n }, { status: "pending" }] as const) {
        const pets: Pet[] = [
          { ...aPet(), id: first.id + 9n },
          { ...first, ...change },
        ];
        const { added, conflict } = await valueOf(storage.pets.import(pets));
        assert.deepEqual([added, conflict], [0, first.id]);
        const twice = await valueOf(storage.pets.import([one, { ...one, ...change }]));
        assert.equal(twice.conflict, last, "a pet may differ from an earlier one of the call");
      }
      assert.deepEqual(await valueOf(storage.pets.find(last)), one);
      const [added, next] = await Promise.all([
        storage.pets.import([{ ...aPet(), id: last + 5n }]),
        storage.pets.create(aPet()),
      ]);
      assert.equal(added._unsafeUnwrap().added, 1);
      assert.ok(next._unsafeUnwrap().id > last);
      assert.ok((await valueOf(storage.pets.create(aPet()))).id > last + 5n);
      assert.equal((await valueOf(storage.pets.import([...moved, first]))).added, 0);
      assert.equal((await allPets(storage)).length, expected.length + 3);
    },
  },
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
