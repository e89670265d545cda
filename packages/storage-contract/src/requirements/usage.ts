import assert from "node:assert/strict";
import {
  NO_USAGE,
  type PresentedKey,
  type Storage,
  type StoredApiKey,
  type Usage,
  type UsageStorage,
} from "@petstore/core/storage";
import {
  allPets,
  assertFails,
  changeKey,
  chargeOnce,
  presentedKeyOf,
  insertKeys,
  listKeys,
  setUsage,
  throwingDecision,
  usageOf,
  valueOf,
} from "../calls.js";
import type { CallsOf, RequirementsOf } from "../requirement.js";
import {
  aFullKey,
  aKey,
  aPet,
  aSecret,
  aUsage,
  firstPage,
  greatestUsage,
  oneMore,
  usedTimes,
} from "../samples.js";

export const usageCalls: CallsOf<UsageStorage> = ({ usage }) => ({
  charge: () => usage.charge("digest of a", () => ({ result: 1 })),
  findByDigest: () => usage.findByDigest("digest of a"),
  update: () => usage.update("a", () => ({ result: 1 })),
});

export const usageRequirements: RequirementsOf<UsageStorage> = {
  charge: {
    "passes to a charge the key that has the secret, as its latest change stored it, the secret's expiry, and the usage":
      async (storage) => {
        await insertKeys(storage, "other", "a");
        await valueOf(storage.keys.insert(aFullKey("b")));
        let charges = 0;
        for (const key of [aKey("a"), aFullKey("a"), aKey("a", { limits: aFullKey("a").limits })]) {
          await changeKey(storage, "a", key);
          await assertPresented(storage, key, usedTimes(charges));
          await chargeOnce(storage, key.secrets[0]?.digest ?? "");
          charges += 1;
        }
        await assertPresented(storage, aFullKey("b"), NO_USAGE);
      },
    "passes undefined to the charge of a secret that no key has, and stores nothing": async (
      storage,
    ) => {
      await insertKeys(storage, "a");
      for (const digest of ["unknown", "", "a", "DIGEST OF A"]) {
        const charge = storage.usage.charge(digest, (presented) => ({
          next: aUsage(),
          result: [presented],
        }));
        assert.deepEqual(await valueOf(charge), [undefined]);
      }
      assert.deepEqual(await listKeys(storage), [{ key: aKey("a"), usage: NO_USAGE }]);
    },
    "keeps every field of a usage exact, up to 2^53-1, in charge, update, find and list": async (
      storage,
    ) => {
      await insertKeys(storage, "a");
      for (const usage of [aUsage(), greatestUsage, aUsage({ bans: 0 })]) {
        await valueOf(
          storage.usage.charge("digest of a", () => ({ next: usage, result: undefined })),
        );
        assert.deepEqual((await presentedKeyOf(storage, "digest of a"))?.usage, usage);
        const shown = storage.usage.update("a", (current) => ({ result: current }));
        assert.deepEqual(await valueOf(shown), usage);
        assert.deepEqual(await usageOf(storage, "a"), usage);
        assert.deepEqual(await listKeys(storage), [{ key: aKey("a"), usage }]);
      }
    },
    "counts every one of many concurrent charges, each for its own key": async (storage) => {
      const ids = ["a", "b", "c"];
      await insertKeys(storage, ...ids);
      const rounds = Array.from({ length: 100 }, () => ids).flat();
      const before = await Promise.all(rounds.map((id) => chargeOnce(storage, `digest of ${id}`)));
      for (const [offset, id] of ids.entries()) {
        const shown = before.filter((_, index) => index % ids.length === offset);
        assert.equal(new Set(shown).size, 100, "two charges were shown the same usage");
        assert.deepEqual(await usageOf(storage, id), usedTimes(100));
      }
    },
    "counts concurrent charges of one key together, whichever of its secrets they use": async (
      storage,
    ) => {
      await valueOf(storage.keys.insert(aKey("a", { secrets: [aSecret("new"), aSecret("old")] })));
      const updateById = () =>
        valueOf(
          storage.usage.update("a", (usage) => ({
            next: usage && oneMore(usage),
            result: undefined,
          })),
        );
      const round = () => [chargeOnce(storage, "new"), chargeOnce(storage, "old"), updateById()];
      await Promise.all(Array.from({ length: 20 }, round).flat());
      assert.deepEqual(await usageOf(storage, "a"), usedTimes(60));
    },
    "leaves the usage unchanged when the decision returns no next, or the usage that was passed to it":
      async (storage) => {
        await insertKeys(storage, "a");
        for (const usage of [NO_USAGE, aUsage()]) {
          await setUsage(storage, "a", usage);
          const results = await Promise.all([
            valueOf(storage.usage.charge("digest of a", () => ({ result: 1 }))),
            valueOf(storage.usage.charge("digest of a", () => ({ next: undefined, result: 2 }))),
            valueOf(
              storage.usage.charge("digest of a", (shown) => ({ next: shown?.usage, result: 3 })),
            ),
            valueOf(storage.usage.update("a", () => ({ result: 4 }))),
            valueOf(storage.usage.update("a", (shown) => ({ next: shown, result: 5 }))),
          ]);
          assert.deepEqual(results, [1, 2, 3, 4, 5]);
          assert.deepEqual(await usageOf(storage, "a"), usage);
        }
      },
    "lets the decision of a charge find and list pets that were created before": async (
      storage,
    ) => {
      await insertKeys(storage, "a", "b");
      const charge = (digest: string, id: bigint) =>
        valueOf(
          storage.usage.charge(digest, (presented) => ({
            next: presented && oneMore(presented.usage),
            result: { found: storage.pets.find(id), listed: storage.pets.list(firstPage) },
          })),
        );
      for (const status of ["available", "sold"] as const) {
        const before = await allPets(storage);
        const pet = await valueOf(storage.pets.create(aPet({ status })));
        const charged = await Promise.all([
          charge("digest of a", pet.id),
          charge("digest of a", pet.id),
          charge("digest of b", pet.id),
        ]);
        for (const { found, listed } of charged) {
          assert.deepEqual(await valueOf(found), pet);
          assert.deepEqual((await valueOf(listed)).pets, [...before, pet]);
        }
      }
      assert.deepEqual(await usageOf(storage, "a"), usedTimes(4));
      assert.deepEqual(await usageOf(storage, "b"), usedTimes(2));
    },
    "fails only the charge whose decision throws, and stores nothing of it": async (storage) => {
      await insertKeys(storage, "a", "b");
      const charge = () => chargeOnce(storage, "digest of a");
      const throwing = () => [
        assertFails(() => storage.usage.charge("digest of b", throwingDecision)),
        assertFails(() => storage.usage.update("b", throwingDecision)),
        assertFails(() => storage.usage.charge("unknown", throwingDecision)),
      ];
      await Promise.all([charge(), ...throwing(), charge(), ...throwing(), charge()]);
      assert.deepEqual(await usageOf(storage, "a"), usedTimes(3));
      assert.deepEqual(await usageOf(storage, "b"), NO_USAGE);
      await chargeOnce(storage, "digest of b");
      assert.deepEqual(await usageOf(storage, "b"), usedTimes(1));
    },
  },
  findByDigest: {
    "finds the key that has a secret, with the usage after every charge that resolved, and stores nothing":
      async (storage) => {
        await insertKeys(storage, "a", "b");
        for (let count = 0; count < 3; count += 1) {
          const found = await valueOf(storage.usage.findByDigest("digest of a"));
          assert.equal(found?.key.id, "a");
          assert.deepEqual(found.usage, usedTimes(count));
          await chargeOnce(storage, "digest of a");
        }
        for (const digest of ["unknown", "", "a", "DIGEST OF A"]) {
          assert.equal(await valueOf(storage.usage.findByDigest(digest)), undefined);
        }
        assert.deepEqual(await usageOf(storage, "b"), NO_USAGE);
      },
  },
  update: {
    "passes undefined to the update of a missing key's usage, and stores nothing": async (
      storage,
    ) => {
      const update = storage.usage.update("a", (usage) => ({ next: aUsage(), result: [usage] }));
      assert.deepEqual(await valueOf(update), [undefined]);
      await insertKeys(storage, "a");
      assert.deepEqual(await usageOf(storage, "a"), NO_USAGE);
      const shown = storage.usage.update("a", (usage) => ({ result: usage }));
      assert.deepEqual(await valueOf(shown), NO_USAGE);
    },
  },
};

/** Asserts that a charge of each secret is shown this key and usage. */
async function assertPresented(storage: Storage, key: StoredApiKey, usage: Usage): Promise<void> {
  for (const { digest, expiresAt } of key.secrets) {
    const shown = await presentedKeyOf(storage, digest);
    assert.ok(shown);
    assert.deepEqual(requiredFields(shown.key), requiredFields(key));
    assert.equal(shown.secretExpiresAt, expiresAt);
    assert.deepEqual(shown.usage, usage);
  }
}

/** The fields that the port requires: a storage may show more. */
function requiredFields({ id, plan, limits, expiresAt, revokedAt }: PresentedKey["key"]) {
  return { id, plan, limits, expiresAt, revokedAt };
}
