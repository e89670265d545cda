// Run in a process of its own by processes.ts: opens a storage, and does a task on it when it is told to. Reads and
// writes its pipes synchronously, so that a decision can wait, too. Plain JavaScript: it runs from src/ as from dist/.
import { readSync, writeSync } from "node:fs";

/** @import { Storage, StorageError, Usage } from "@petstore/core/storage" */
/** @import { Result } from "neverthrow" */

const [, , url = "", options = "", task = "", rounds = ""] = process.argv;

/** @type {{ openStorage: (options: unknown) => Promise<Storage> }} */
// eslint-disable-next-line no-restricted-syntax -- the module of another's storage, which only its URL names
const { openStorage } = await import(url);
const storage = await openStorage(JSON.parse(options));
const { pets, keys, usage } = storage;

/** @type {Record<string, (round: number) => Promise<unknown>>} */
const tasks = {
  charge: async () => [
    await valueOf(usage.charge(DIGEST, (key) => counted(key?.usage))),
    await valueOf(usage.update("a", counted)),
  ],
  update: () =>
    valueOf(
      keys.update("a", (key) => {
        const createdAt = (key?.createdAt ?? 0) + 1;
        return { next: key && { ...key, createdAt }, result: createdAt };
      }),
    ),
  create: async (round) => {
    const request = { token: `token ${round}`, fingerprint: "", now: 1, expiresAt: 2 };
    const { petId, replayed } = await valueOf(pets.createOnce(pet, request));
    const { id } = await valueOf(pets.create(pet));
    return { token: request.token, petId: `${petId}`, replayed, id: `${id}` };
  },
  move: async (round) => {
    const all = await valueOf(keys.list({ limit: 100, after: undefined, banned: false }));
    const removed = await valueOf(keys.remove(all.map(({ key }) => key.id)));
    const added = await valueOf(keys.import(all));
    const moved = all.map((_, index) => ({ ...pet, id: BigInt(1 + index + round * all.length) }));
    return [removed, added, (await valueOf(pets.import(moved))).added];
  },
  each: async (round) => [
    await tasks["charge"]?.(round),
    await tasks["update"]?.(round),
    await tasks["create"]?.(round),
  ],
  wait: () =>
    valueOf(
      usage.charge(DIGEST, (key) => {
        // Only the first run waits, if the storage decides again.
        if (!hasWaited) say("deciding");
        if (!hasWaited) waitForWord();
        hasWaited = true;
        return counted(key?.usage);
      }),
    ),
};

let hasWaited = false;
const DIGEST = "digest of a";
/** @type {import("@petstore/core/storage").NewPet} */
const pet = { name: "Rex", categoryId: 7n, status: "available" };

say("ready");
waitForWord();
const results = [];
for (let round = 0; round < Number(rounds); round += 1) results.push(await tasks[task]?.(round));
say(JSON.stringify(results));
// Without this word, the process ends as if it were killed.
if (waitForWord() === "close") await storage.close();
process.kill(process.pid, "SIGKILL");

/** @param {Usage | undefined} shown */
function counted(shown) {
  const next = shown && {
    ...shown,
    minuteUsed: shown.minuteUsed + 1,
    dayUsed: shown.dayUsed + 1,
  };
  return { next, result: shown?.dayUsed };
}

/**
 * @template T
 * @param {Promise<Result<T, StorageError>>} call
 */
async function valueOf(call) {
  const result = await call;
  if (result.isErr()) throw new Error(result.error.message, { cause: result.error.cause });
  return result.value;
}

/** @param {string} line */
function say(line) {
  writeSync(1, `${line}\n`);
}

function waitForWord() {
  const bytes = Buffer.alloc(16);
  return bytes.toString("utf8", 0, readSync(0, bytes)).trim();
}
