import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { usedTimes, aKey } from "./samples.js";
import {
  allPets,
  byValue,
  follow,
  insertKeys,
  keyOf,
  listKeys,
  usageOf,
  valueOf,
} from "./calls.js";
import type { StartProcess, Task } from "./processes.js";
import type { StorageRequirement } from "./requirement.js";

/** What a process reports of a creation. Ids are text, for JSON. */
interface Created {
  readonly token: string;
  readonly petId: string;
  readonly replayed: boolean;
  readonly id: string;
}

/**
 * The requirements on several processes. Two storages in one process cannot replace them: calls that are synchronous
 * inside never run at the same time there.
 */
export const processRequirements: readonly StorageRequirement[] = [
  {
    name: "counts the charges and updates of one key's usage in several processes exactly",
    needs: "processes",
    async check(open, start) {
      const storage = await open();
      await insertKeys(storage, "a");
      const shown = (await inProcesses<number[]>(start, "charge")).flat(2);
      assert.deepEqual(new Set(shown), new Set(shown.keys()), "two were shown the same usage");
      assert.deepEqual(await usageOf(storage, "a"), usedTimes(shown.length));
    },
  },
  {
    name: "passes to each update of an API key in several processes the key that the previous one stored",
    needs: "processes",
    async check(open, start) {
      const storage = await open();
      await valueOf(storage.keys.insert(aKey("a", { createdAt: 0 })));
      const counts = (await inProcesses<number>(start, "update")).flat();
      assert.equal(new Set(counts).size, counts.length);
      assert.equal((await keyOf(storage, "a"))?.createdAt, counts.length);
    },
  },
  {
    name: "adds one pet for each token, and gives each pet its own id, when several processes create, and lists each to a follower",
    needs: "processes",
    async check(open, start) {
      const storage = await open();
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
  },
  {
    name: "shows every removal and import of another process whole",
    needs: "processes",
    async check(open, start) {
      const storage = await open();
      const ids = Array.from({ length: MOVED }, (_, index) => `key ${index + 10}`);
      await insertKeys(storage, ...ids);
      let isDone = false;
      const moving = inProcesses<number[]>(start, "move", 1).finally(() => (isDone = true));
      const sizes = new Set<number>();
      const watch = async () => {
        for (let last = 0n; !isDone;) {
          sizes.add((await listKeys(storage)).length);
          const query = { limit: MOVED, status: undefined, after: last };
          const { pets } = await valueOf(storage.pets.list(query));
          sizes.add(pets.length);
          last = pets.at(-1)?.id ?? last;
          await setTimeout(0);
        }
      };
      await Promise.all([moving, watch()]);
      assert.ok(
        [...sizes].every((size) => size === 0 || size === MOVED),
        "seen in part",
      );
      assert.deepEqual(new Set((await moving).flat(2)), new Set([MOVED]));
      assert.deepEqual(
        (await listKeys(storage)).map(({ key }) => key.id),
        ids,
      );
    },
  },
  {
    name: "finds an API key by a digest while a charge in another process is under way",
    needs: "processes",
    async check(open, start) {
      const storage = await open();
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
  },
  {
    name: "keeps what was stored by a process that ends without closing",
    needs: "processes",
    async check(open, start) {
      const before = await open();
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
  },
];

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
