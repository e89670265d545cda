import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { Pet } from "@petstore/core";
import { INT64_MAX, NO_USAGE, type Storage } from "@petstore/core/storage";
import {
  allPets,
  assertFails,
  changeKey,
  byValue,
  chargeOnce,
  createPets,
  follow,
  presentedKeyOf,
  insertKeys,
  listKeys,
  setUsage,
  usageOf,
  valueOf,
} from "./calls.js";
import type { StorageRequirement } from "./requirement.js";
import { aKey, aPet, aSecret, aUsage, usedTimes } from "./samples.js";

/** The requirements on closing a storage, opening it again, and sharing its data. */
export const lifecycleRequirements: readonly StorageRequirement[] = [
  {
    name: "fails every call after close, with an Err value",
    async check(open) {
      const storage = await open();
      await valueOf(storage.close());
      for (const call of callsOfEveryMember(storage)) await assertFails(call);
    },
  },
  {
    name: "can be closed twice, one after the other or at once",
    async check(open) {
      const storage = await open();
      await Promise.all([valueOf(storage.close()), valueOf(storage.close())]);
      await valueOf(storage.close());
    },
  },
  {
    name: "completes the calls that are under way when it is closed",
    async check(open) {
      const storage = await open();
      await insertKeys(storage, "a");
      const five = Array.from({ length: 5 });
      const created = five.map(() => valueOf(storage.pets.create(aPet())));
      const charged = five.map(() => chargeOnce(storage, "digest of a"));
      await valueOf(storage.close());
      assert.equal(new Set((await Promise.all(created)).map(({ id }) => id)).size, 5);
      assert.deepEqual(new Set(await Promise.all(charged)), new Set([0, 1, 2, 3, 4]));
    },
  },
  {
    name: "completes the calls of every member that are under way before its close resolves",
    async check(open) {
      const storage = await open();
      await insertKeys(storage, "a");
      let completed = 0;
      const running = callsOfEveryMember(storage).map(async (call) => {
        const result = await call();
        completed += 1;
        return result.isOk();
      });
      await valueOf(storage.close());
      // The last of them may resolve in the same turn.
      await setImmediate();
      const before = completed;
      assert.ok((await Promise.all(running)).every(Boolean), "close failed a call");
      assert.equal(before, running.length, "close resolved before a call that was under way");
    },
  },
  {
    name: "finds every change after it is reopened: charges, updates, removals and imports",
    needs: "reopening",
    async check(open) {
      const before = await open();
      await insertKeys(before, "a", "b", "c");
      await valueOf(before.keys.import([{ key: aKey("d"), usage: aUsage() }]));
      await setUsage(before, "c", aUsage({ bans: 3 }));
      await chargeOnce(before, "digest of a");
      await changeKey(before, "a", { label: "changed", secrets: [aSecret("another")] });
      await chargeOnce(before, "another");
      await valueOf(before.keys.remove(["b"]));
      const pet: Pet = { id: 7n, ...aPet({ status: "sold" }) };
      await valueOf(before.pets.import([pet]));
      await valueOf(before.close());

      const after = await open();
      const changed = aKey("a", { label: "changed", secrets: [aSecret("another")] });
      assert.deepEqual(await listKeys(after), [
        { key: changed, usage: usedTimes(2) },
        { key: aKey("c"), usage: aUsage({ bans: 3 }) },
        { key: aKey("d"), usage: aUsage() },
      ]);
      assert.deepEqual((await presentedKeyOf(after, "another"))?.usage, usedTimes(2));
      for (const id of ["a", "b"]) {
        assert.equal(await presentedKeyOf(after, `digest of ${id}`), undefined);
      }
      assert.deepEqual(await allPets(after), [pet]);
    },
  },
  {
    name: "has a clock, if any, that returns milliseconds since the Unix epoch, and one that is never set back",
    async check(open) {
      const { clock } = await open();
      let last = -Infinity;
      for (let count = 0; clock && count < 10; count += 1) {
        const now = clock.now();
        assert.ok(now > MILLISECONDS && now <= MAX_TIME, `the time is ${now}`);
        const monotonic = clock.monotonic?.() ?? 0;
        assert.ok(monotonic >= last, `${monotonic} follows ${last}`);
        last = monotonic;
        await setImmediate();
      }
    },
  },
  {
    name: "finds all data after it is reopened, and reuses no id",
    needs: "reopening",
    async check(open) {
      const before = await open();
      const pet = aPet({ name: "🐈 that stays", categoryId: INT64_MAX, status: "pending" });
      const created = await createPets(before, [aPet(), pet, aPet()]);
      const key = aKey("a", { label: "kept", secrets: [aSecret("new"), aSecret("old")] });
      await valueOf(before.keys.insert(key));
      await setUsage(before, "a", aUsage());
      await valueOf(before.close());

      const after = await open();
      assert.deepEqual(await allPets(after), created);
      assert.deepEqual(await valueOf(after.keys.find("a")), { key, usage: aUsage() });
      assert.deepEqual((await presentedKeyOf(after, "old"))?.usage, aUsage());
      const next = await valueOf(after.pets.create(aPet()));
      assert.ok(created.every(({ id }) => id < next.id));
    },
  },
  {
    name: "immediately finds the data that another storage on the same data stored",
    needs: "sharing",
    async check(open) {
      const [one, other] = [await open(), await open()];
      for (const [writer, reader] of [
        [one, other],
        [other, one],
      ] as const) {
        const before = await allPets(reader);
        const created = await createPets(writer, [aPet(), aPet({ status: "sold" })]);
        assert.deepEqual(await allPets(reader), [...before, ...created]);
        for (const pet of created) {
          assert.deepEqual(await valueOf(reader.pets.find(pet.id)), pet);
        }
      }

      await insertKeys(one, "a");
      assert.equal((await presentedKeyOf(one, "digest of a"))?.key.revokedAt, undefined);
      await changeKey(other, "a", { revokedAt: 9 });
      assert.equal((await presentedKeyOf(one, "digest of a"))?.key.revokedAt, 9);
    },
  },
  {
    name: "gives each pet its own id, even when two storages on the same data create at once",
    needs: "sharing",
    async check(open) {
      const [one, other] = [await open(), await open()];
      const storages = Array.from({ length: 20 }, () => [one, other]).flat();
      const created = await Promise.all(
        storages.map((storage) => valueOf(storage.pets.create(aPet()))),
      );
      assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
      const inOrder = created.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      assert.deepEqual(await allPets(one), inOrder);
    },
  },
  {
    name: "lists each pet exactly once to a follower that continues after the last id seen, while others create",
    needs: "sharing",
    async check(open) {
      const [one, other, reader] = [await open(), await open(), await open()];
      const writers = [one, other, one, other].map((storage) =>
        createPets(
          storage,
          Array.from({ length: 15 }, () => aPet()),
        ),
      );
      const creating = Promise.all(writers);
      const seen = await follow([reader, one], creating);
      const ids = (await creating).flat().map(({ id }) => id);
      for (const each of seen) assert.deepEqual(each, ids.toSorted(byValue));
    },
  },
  {
    name: "counts concurrent charges of one key together when two storages share the data",
    needs: "sharing",
    async check(open) {
      const [one, other] = [await open(), await open()];
      await insertKeys(one, "a");
      const before: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const storages = Array.from({ length: 5 }, () => [one, other]).flat();
        const charges = storages.map((storage) => chargeOnce(storage, "digest of a"));
        before.push(...(await Promise.all(charges)));
      }
      assert.equal(new Set(before).size, 100, "two charges were shown the same usage");
      for (const storage of [one, other]) {
        assert.deepEqual(await usageOf(storage, "a"), usedTimes(100));
      }
    },
  },
];

/** A time of 2001. In seconds, it is one of the year 33658. */
const MILLISECONDS = 1_000_000_000_000;

/** The latest time that a `Date` can represent. */
const MAX_TIME = 8_640_000_000_000_000;

/** A call of every member of the port except `close`. */
function callsOfEveryMember({ pets, keys, usage }: Storage) {
  return [
    () => pets.create(aPet()),
    () => pets.createOnce(aPet(), { token: "a", fingerprint: "b", now: 1, expiresAt: 2 }),
    () => pets.import([{ ...aPet(), id: 9n }]),
    () => pets.find(1n),
    () => pets.list({ limit: 1, status: undefined, after: undefined }),
    () => keys.insert(aKey("another")),
    () => keys.import([{ key: aKey("one more"), usage: NO_USAGE }]),
    () => keys.find("a"),
    () => keys.list({ limit: 1, after: undefined, banned: false }),
    () => keys.update("a", () => ({ result: 1 })),
    () => keys.remove(["a"]),
    () => usage.charge("digest of a", () => ({ result: 1 })),
    () => usage.findByDigest("digest of a"),
    () => usage.update("a", () => ({ result: 1 })),
  ];
}
