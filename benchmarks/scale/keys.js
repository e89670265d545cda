// Measures what active keys cost in memory, in a process of its own:
//   node --expose-gc benchmarks/scale/keys.js memory|FILE KEYS
// Prints bytes of heap and of resident memory for each key, as one line of JSON.
import { createPetStore } from "@petstore/core";
import { openStore } from "./seed.js";

const [, , place = "memory", keys = "0"] = process.argv;
const count = Number(keys);
const store = place === "memory" ? createPetStore() : await openStore(place);

/** Secrets by themselves would be counted as the store's: they are kept in one string. */
const LENGTH = "pet_live_".length + 36;

/** @param {number} many */
async function issue(many) {
  const issued = await Promise.all(
    Array.from({ length: many }, () => store.keys.issue({ plan: "business" })),
  );
  return issued.map((each) => (each.isOk() ? each.value.secret : "")).join("");
}

/** @param {string} secrets */
async function use(secrets) {
  for (let at = 0; at < secrets.length; at += LENGTH) {
    const listed = await store.as(secrets.slice(at, at + LENGTH)).listPets();
    if (listed.isErr()) throw new Error(listed.error.message);
  }
}

function memory() {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

// Once before, so that what is compiled and cached once is not counted.
await use(await issue(1_000));
const before = memory();
const buffer = Buffer.alloc(count * LENGTH);
for (let made = 0; made < count; made += 1_000) buffer.write(await issue(1_000), made * LENGTH);
const issued = memory();
for (let used = 0; used < count; used += 1_000) {
  await use(buffer.toString("latin1", used * LENGTH, (used + 1_000) * LENGTH));
}
const active = memory();
const held = buffer.length;
console.log(
  JSON.stringify({
    issued: (issued.heap - before.heap - held) / count,
    active: (active.heap - before.heap - held) / count,
    resident: (active.rss - before.rss - held) / count,
  }),
);
await store.close();
