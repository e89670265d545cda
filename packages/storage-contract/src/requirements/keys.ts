import assert from "node:assert/strict";
import { NO_USAGE, type KeyStorage } from "@petstore/core/storage";
import {
  assertFails,
  assertWhole,
  changeKey,
  chargeOnce,
  presentedKeyOf,
  insertKeys,
  keyOf,
  listKeys,
  setUsage,
  throwingDecision,
  usageOf,
  valueOf,
} from "../calls.js";
import type { CallsOf, RequirementsOf } from "../requirement.js";
import { aFullKey, aKey, aSecret, aUsage } from "../samples.js";

export const keyCalls: CallsOf<KeyStorage> = ({ keys }) => ({
  insert: () => keys.insert(aKey("another")),
  import: () => keys.import([{ key: aKey("one more"), usage: NO_USAGE }]),
  find: () => keys.find("a"),
  list: () => keys.list({ limit: 1, after: undefined, banned: false }),
  update: () => keys.update("a", () => ({ result: 1 })),
  remove: () => keys.remove(["a"]),
});

export const keyRequirements: RequirementsOf<KeyStorage> = {
  insert: {
    "keeps every field of an API key exact, in find and in list": async (storage) => {
      const keys = [aKey("bare"), aKey("empty label", { label: "" }), aFullKey("full")];
      for (const key of keys) await valueOf(storage.keys.insert(key));
      const withUsage = keys.map((key) => ({ key, usage: NO_USAGE }));
      for (const each of withUsage)
        assert.deepEqual(await valueOf(storage.keys.find(each.key.id)), each);
      assert.deepEqual(await listKeys(storage), withUsage);
      assert.equal(await valueOf(storage.keys.find("missing")), undefined);
    },
    "adds an API key without usage, also under the id of a removed one": async (storage) => {
      await insertKeys(storage, "a", "b");
      await setUsage(storage, "a", aUsage());
      await valueOf(storage.keys.remove(["a"]));
      await insertKeys(storage, "a");
      const unused = ["a", "b"].map((id) => ({ key: aKey(id), usage: NO_USAGE }));
      assert.deepEqual(await listKeys(storage), unused);
    },
  },
  import: {
    "imports exactly the API keys whose ids are not taken, with their secrets and usage, and counts them":
      async (storage) => {
        await insertKeys(storage, "b", "other");
        await setUsage(storage, "b", aUsage());
        const moved = [
          { key: aFullKey("c"), usage: aUsage({ bans: 2, lastUsedAt: 1_900_000_000_000 }) },
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
        assert.equal((await presentedKeyOf(storage, "oldest of c"))?.usage.bans, 2);
        assert.equal(await chargeOnce(storage, "digest of a"), 0);
        assert.equal(await valueOf(storage.keys.import(moved)), 0, "a repeat must add nothing");
        assert.equal(await valueOf(storage.keys.import([])), 0);
      },
    "imports all API keys or, if a digest is taken, none": async (storage) => {
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
  find: {
    "finds an API key by its current secrets, which no other key can take": async (storage) => {
      await valueOf(storage.keys.insert(aKey("a", { secrets: [aSecret("first")] })));
      const secrets = [aSecret("second"), aSecret("first", { expiresAt: 1 })];
      await changeKey(storage, "a", { secrets });
      assert.deepEqual(await keyOf(storage, "a"), aKey("a", { secrets }));
      assert.equal((await presentedKeyOf(storage, "second"))?.secretExpiresAt, undefined);
      assert.equal((await presentedKeyOf(storage, "first"))?.secretExpiresAt, 1);

      await changeKey(storage, "a", { secrets: [aSecret("third")] });
      assert.equal((await presentedKeyOf(storage, "third"))?.key.id, "a");
      assert.equal(await presentedKeyOf(storage, "second"), undefined);
      assert.equal(await presentedKeyOf(storage, "first"), undefined);

      await insertKeys(storage, "b");
      const next = aKey("b", { secrets: [aSecret("third")] });
      await assertFails(() => storage.keys.update("b", () => ({ next, result: 1 })));
      assert.equal((await presentedKeyOf(storage, "third"))?.key.id, "a");
    },
  },
  list: {
    "lists API keys in the order of the bytes of their ids, page after page": async (storage) => {
      const inOrder = ["-", "0", "00", "9", "A", "Z", "_", "a", "aa", "z"];
      await insertKeys(storage, ...inOrder.toReversed());
      const idsOf = async (limit: number, after: string | undefined) =>
        (await listKeys(storage, { limit, after })).map(({ key }) => key.id);
      for (let start = 0; start <= inOrder.length; start += 1) {
        for (const limit of [1, 3, inOrder.length + 1]) {
          const expected = inOrder.slice(start, start + limit);
          assert.deepEqual(await idsOf(limit, inOrder[start - 1]), expected);
        }
      }
      assert.deepEqual(await idsOf(2, "B"), ["Z", "_"], "after an id that no key has");
    },
    "lists exactly the API keys that remember a ban, page after page": async (storage) => {
      await insertKeys(storage, "a", "b", "c", "d", "e");
      const bans = Object.entries({ a: 1, b: 0, d: 7, e: 2 });
      for (const [id, count] of bans) await setUsage(storage, id, aUsage({ bans: count }));
      const idsOf = async (limit: number, after?: string) =>
        (await listKeys(storage, { limit, after, banned: true })).map(({ key }) => key.id);

      assert.deepEqual(await idsOf(10), ["a", "d", "e"]);
      assert.deepEqual(await idsOf(2), ["a", "d"]);
      assert.deepEqual(await idsOf(2, "a"), ["d", "e"]);
      const [first] = await listKeys(storage, { limit: 1, banned: true });
      assert.deepEqual(first, { key: aKey("a"), usage: aUsage({ bans: 1 }) });

      await setUsage(storage, "a", aUsage({ bans: 0 }));
      assert.deepEqual(await idsOf(10), ["d", "e"]);
    },
  },
  update: {
    "stores the API key that the decision returns, and changes no other key, no id and no usage":
      async (storage) => {
        await insertKeys(storage, "a", "b");
        await setUsage(storage, "a", aUsage());
        for (const [next, planBefore] of [
          [aFullKey("a"), "free"],
          [aKey("a"), "enterprise"],
        ] as const) {
          const update = storage.keys.update("a", (shown) => ({ next, result: shown?.plan }));
          assert.equal(await valueOf(update), planBefore);
          assert.deepEqual(await valueOf(storage.keys.find("a")), { key: next, usage: aUsage() });
          assert.deepEqual(await keyOf(storage, "b"), aKey("b"));
        }

        const secrets = [aSecret("a digest of neither")];
        const renamed = aKey("b", { secrets });
        await valueOf(storage.keys.update("a", () => ({ next: renamed, result: undefined })));
        assert.deepEqual(await keyOf(storage, "a"), aKey("a", { secrets }));
        assert.deepEqual(await keyOf(storage, "b"), aKey("b"));
      },
    "passes undefined to the update of a missing API key, and stores nothing": async (storage) => {
      const update = storage.keys.update("missing", (shown) => ({
        next: aKey("missing"),
        result: [shown],
      }));
      assert.deepEqual(await valueOf(update), [undefined]);
      assert.equal(await keyOf(storage, "missing"), undefined);
      assert.deepEqual(await listKeys(storage), []);
    },
    "leaves an API key unchanged when the decision returns no next, or the key that was passed to it":
      async (storage) => {
        await insertKeys(storage, "a");
        const results = [
          await valueOf(storage.keys.update("a", () => ({ result: "left out" }))),
          await valueOf(storage.keys.update("a", () => ({ next: undefined, result: "undefined" }))),
          await valueOf(storage.keys.update("a", (shown) => ({ next: shown, result: "shown" }))),
        ];
        assert.deepEqual(results, ["left out", "undefined", "shown"]);
        assert.deepEqual(await keyOf(storage, "a"), aKey("a"));
      },
    "passes to each of many concurrent updates of an API key the key that the previous one stored":
      async (storage) => {
        await valueOf(storage.keys.insert(aKey("a", { createdAt: 0 })));
        const increment = () =>
          valueOf(
            storage.keys.update("a", (shown) => {
              assert.ok(shown);
              const createdAt = shown.createdAt + 1;
              return { next: { ...shown, createdAt }, result: createdAt };
            }),
          );
        const counts = await Promise.all(Array.from({ length: 40 }, increment));
        assert.equal(new Set(counts).size, 40);
        assert.equal((await keyOf(storage, "a"))?.createdAt, 40);
      },
    "fails only the update of an API key whose decision throws": async (storage) => {
      await insertKeys(storage, "a", "b");
      const relabel = (id: string) => changeKey(storage, id, { label: "changed" });
      const throwing = assertFails(() => storage.keys.update("a", throwingDecision));
      await Promise.all([relabel("b"), throwing]);
      assert.deepEqual(await keyOf(storage, "a"), aKey("a"));
      assert.equal((await keyOf(storage, "b"))?.label, "changed");
      await relabel("a");
      assert.equal((await keyOf(storage, "a"))?.label, "changed");
    },
  },
  remove: {
    "removes exactly the API keys with the given ids, with their secrets and usage, and counts them":
      async (storage) => {
        await insertKeys(storage, "a", "b", "c", "d");
        for (const id of ["a", "b", "c"]) await setUsage(storage, id, aUsage());
        assert.equal(await valueOf(storage.keys.remove(["c", "missing", "a", "d"])), 3);
        assert.equal(await valueOf(storage.keys.remove(["a"])), 0);
        assert.equal(await valueOf(storage.keys.remove([])), 0);

        assert.deepEqual(await listKeys(storage), [{ key: aKey("b"), usage: aUsage() }]);
        assert.equal(await presentedKeyOf(storage, "digest of a"), undefined);
        assert.deepEqual((await presentedKeyOf(storage, "digest of b"))?.usage, aUsage());
      },
    "removes all of the given API keys at once, and each only once": async (storage) => {
      const ids = Array.from({ length: 20 }, (_, index) => `key ${index}`);
      await insertKeys(storage, ...ids);
      const removing = Promise.all(
        [ids, ids.toReversed()].map((each) => valueOf(storage.keys.remove(each))),
      );
      await assertWhole(removing, ids.length, async () => [(await listKeys(storage)).length]);
      assert.deepEqual((await removing).toSorted(), [0, ids.length]);
    },
  },
};
