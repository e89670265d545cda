import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import {
  allPets,
  assertWhole,
  byValue,
  changeKey,
  chargeOnce,
  createOnce,
  createPets,
  follow,
  insertKeys,
  keyOf,
  listKeys,
  listPets,
  presentedKeyOf,
  usageOf,
  valueOf,
} from "../calls.js";
import type { StartProcess, Task } from "../processes.js";
import type { Requirements } from "../requirement.js";
import { aKey, aPet, oneMore, usedTimes } from "../samples.js";

/** What a process reports of a creation. Ids are text, for JSON. */
interface Created {
  readonly token: string;
  readonly petId: string;
  readonly replayed: boolean;
  readonly id: string;
}

/** The requirements on two storages on the same data, in one process. */
export const sharingRequirements: Requirements = {
  "adds one pet for each token when two storages on the same data create at once": async (
    storage,
    open,
  ) => {
    const storages = [storage, await open()];
    for (let round = 0; round < 10; round += 1) {
      const twins = storages.map((storage) => createOnce(storage, { token: `token ${round}` }));
      const creations = await Promise.all(twins);
      assert.equal(new Set(creations.map(({ petId }) => petId)).size, 1);
      assert.equal(creations.filter(({ replayed }) => replayed).length, 1);
    }
    for (const storage of storages) assert.equal((await allPets(storage)).length, 10);
  },
  "immediately finds the data that another storage on the same data stored": async (one, open) => {
    const other = await open();
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
    await chargeOnce(one, "digest of a");
    await changeKey(other, "a", { revokedAt: 8 });
    assert.equal((await presentedKeyOf(one, "digest of a"))?.key.revokedAt, 8);
    await chargeOnce(one, "digest of a");
    await changeKey(other, "a", { revokedAt: 9 });
    const charge = one.usage.charge("digest of a", (shown) => ({
      next: shown && oneMore(shown.usage),
      result: shown?.key.revokedAt,
    }));
    assert.equal(await valueOf(charge), 9);
  },
  "gives each pet its own id, even when two storages on the same data create at once": async (
    one,
    open,
  ) => {
    const other = await open();
    const storages = Array.from({ length: 20 }, () => [one, other]).flat();
    const created = await Promise.all(
      storages.map((storage) => valueOf(storage.pets.create(aPet()))),
    );
    assert.equal(new Set(created.map(({ id }) => id)).size, created.length);
    assert.equal((await allPets(one)).length, created.length);
  },
  "lists each pet exactly once to a follower that continues after the last id seen, while others create":
    async (reader, open) => {
      const [one, other] = [await open(), await open()];
      const pets = Array.from({ length: 15 }, () => aPet());
      const writers = [one, other, one, other].map((storage) => createPets(storage, pets));
      const creating = Promise.all(writers);
      const seen = await follow([reader, one], creating);
      const ids = (await creating).flat().map(({ id }) => id);
      for (const each of seen) assert.deepEqual(each, ids.toSorted(byValue));
    },
  "counts concurrent charges of one key together when two storages share the data": async (
    one,
    open,
  ) => {
    const other = await open();
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
};

/**
 * The requirements on several processes. Two storages in one process cannot replace them: calls that are synchronous
 * inside never run at the same time there.
 */
export const processRequirements: Requirements = {
  "counts the charges and updates of one key's usage in several processes exactly": async (
    storage,
    _,
    start,
  ) => {
    await insertKeys(storage, "a");
    const shown = (await inProcesses<number[]>(start, "charge")).flat(2);
    assert.deepEqual(new Set(shown), new Set(shown.keys()), "two were shown the same usage");
    assert.deepEqual(await usageOf(storage, "a"), usedTimes(shown.length));
  },
  "passes to each update of an API key in several processes the key that the previous one stored":
    async (storage, _, start) => {
      await valueOf(storage.keys.insert(aKey("a", { createdAt: 0 })));
      const counts = (await inProcesses<number>(start, "update")).flat();
      assert.equal(new Set(counts).size, counts.length);
      assert.equal((await keyOf(storage, "a"))?.createdAt, counts.length);
    },
  "adds one pet for each token, and gives each pet its own id, when several processes create, and lists each to a follower":
    async (storage, _, start) => {
      const creating = inProcesses<Created>(start, "create");
      const [seen] = await follow([storage], creating);
      const processes = await creating;
      const added = processes.flat().flatMap(({ id, petId, replayed }) => {
        return replayed ? [id] : [id, petId];
      });
      assert.deepEqual(seen, added.map(BigInt).toSorted(byValue));
      assert.equal(new Set(added).size, added.length, "two pets have one id");
      const ofTokens = new Map(processes.flat().map(({ token, petId }) => [token, petId]));
      assert.equal(processes.flat().filter(({ replayed }) => !replayed).length, ofTokens.size);
      for (const created of processes) {
        for (const { token, petId } of created) assert.equal(petId, ofTokens.get(token));
        const ids = created.map(({ id }) => BigInt(id));
        assert.deepEqual(ids, ids.toSorted(byValue), "a later pet has a smaller id");
      }
    },
  "shows every removal and import of another process whole": async (storage, _, start) => {
    const ids = Array.from({ length: MOVED }, (_, index) => `key ${index + 10}`);
    await insertKeys(storage, ...ids);
    const moving = inProcesses<number[]>(start, "move", 1);
    let last = 0n;
    await assertWhole(moving, MOVED, async () => {
      const keys = await listKeys(storage);
      const { pets } = await listPets(storage, { limit: MOVED, after: last });
      last = pets.at(-1)?.id ?? last;
      await setTimeout(0);
      return [keys.length, pets.length];
    });
    assert.deepEqual(new Set((await moving).flat(2)), new Set([MOVED]));
    assert.deepEqual(
      (await listKeys(storage)).map(({ key }) => key.id),
      ids,
    );
  },
  "finds an API key by a digest while a charge in another process is under way": async (
    storage,
    _,
    start,
  ) => {
    await insertKeys(storage, "a", "b");
    const charging = await start("wait", 1);
    charging.say("go");
    assert.equal(await charging.line(), "deciding");
    for (const id of ["a", "b"]) {
      const found = valueOf(storage.usage.findByDigest(`digest of ${id}`));
      const first = await Promise.race([found, setTimeout(PATIENCE, undefined, { ref: false })]);
      assert.equal(first?.key.id, id, "findByDigest waits for a write");
    }
    charging.say("go");
    await charging.line();
    assert.deepEqual(await usageOf(storage, "a"), usedTimes(1));
  },
  "keeps what was stored by a process that ends without closing": async (before, open, start) => {
    await valueOf(before.keys.insert(aKey("a", { createdAt: 0 })));
    const killed = await start("each", 3);
    killed.say("go");
    await killed.line();
    killed.say("go");
    await killed.ended;
    for (const storage of [before, await open()]) {
      assert.deepEqual(await usageOf(storage, "a"), usedTimes(6));
      assert.equal((await keyOf(storage, "a"))?.createdAt, 3);
      assert.equal((await allPets(storage)).length, 6);
    }
  },
};

const MOVED = 20;

/** How long a read may take, in milliseconds: no storage that waits for a write is that patient with it. */
const PATIENCE = 20_000;

/** Lets several processes do a task at once. Resolves to what each reports of each round. */
async function inProcesses<Report>(
  start: StartProcess,
  task: Task,
  count = 2,
): Promise<readonly (readonly Report[])[]> {
  const processes = await Promise.all(Array.from({ length: count }, () => start(task)));
  processes.forEach(({ say }) => say("go"));
  return Promise.all(
    processes.map(async ({ say, line, ended }) => {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- process.js wrote it
      const reports: readonly Report[] = JSON.parse(await line());
      say("close");
      await ended;
      return reports;
    }),
  );
}
