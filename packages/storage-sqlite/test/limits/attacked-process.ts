// Run by bad-keys.test.ts with --expose-gc: an engine on SQLite that is attacked with made-up keys.
import { statSync } from "node:fs";
import { createPetStore, type Storage } from "@petstore/core";
import { Database } from "../../../../benchmarks/better-sqlite3.js";
import { openStorage } from "../open-storage.js";
import { madeUpKey } from "./made-up-key.js";

/** What the attack did. */
export interface Attacked {
  /** Bytes of heap and buffers by which the process grew, at its worst. */
  readonly growth: number;
  /** Keys that were looked up in the storage. */
  readonly lookUps: number;
  /** The number of outcomes of requests with bad keys, by code. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Requests of a good client beside the attack that were served, and all of them. */
  readonly good: { readonly served: number; readonly made: number };
  /** The database before and after. */
  readonly before: DatabaseState;
  readonly after: DatabaseState;
}

/** All that a write would change. */
interface DatabaseState {
  readonly version: unknown;
  readonly rows: unknown;
  readonly bytes: readonly number[];
}

const CALLERS = 256;
const ROUNDS = 10;
const [, , filename = "", count = ""] = process.argv;

const storage = await openStorage({ filename });
let lookUps = 0;
const counting: Storage = {
  ...storage,
  usage: {
    ...storage.usage,
    charge: (digest, decide) => {
      lookUps += 1;
      return storage.usage.charge(digest, decide);
    },
    findHolder: (digest) => {
      lookUps += 1;
      return storage.usage.findHolder(digest);
    },
  },
};
const store = createPetStore({ storage: counting });
const outcomes: Record<string, number> = {};
const good = { served: 0, made: 0 };
const observer = new Database(filename, { readonly: true });

const issued = await store.keys.issue({ plan: "business" });
const { secret } = issued._unsafeUnwrap();
await beGood();
await attack(0, 2_000, () => "warming up");
lookUps = 0;

const before = databaseState();
const start = memory();
let growth = 0;
const share = Number(count) / ROUNDS;
for (let round = 0; round < ROUNDS; round += 1) {
  await attack(2_000 + round * share, share, botnet);
  growth = Math.max(growth, memory() - start);
}
const after = databaseState();
const badLookUps = lookUps;
for (let round = 0; round < ROUNDS; round += 1) {
  await Promise.all([attack(0, 1_000, botnet), beGood(), beGood()]);
}

process.send?.({ growth, lookUps: badLookUps, outcomes, good, before, after } satisfies Attacked);
await store.close();
process.disconnect();

/** Half of the attack comes from one address, the other half from more addresses than the engine keeps apart. */
function botnet(number: number): string {
  return number % 4 < 2 ? "192.0.2.1" : `10.${String(number % 65_536)}`;
}

async function attack(
  from: number,
  size: number,
  originOf: (number: number) => string,
): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < from + size) {
      const number = next;
      next += 1;
      const outcome = await store.as(madeUpKey(number), originOf(number)).admit();
      const code = outcome.isOk() ? "ok" : outcome.error.code;
      outcomes[code] = (outcomes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
}

async function beGood(): Promise<void> {
  good.made += 1;
  if ((await store.as(secret, "192.0.2.1").admit()).isOk()) good.served += 1;
}

function memory(): number {
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function databaseState(): DatabaseState {
  const tables = ["api_keys", "api_key_secrets", "api_key_usage", "pets"];
  return {
    version: observer.pragma("data_version", { simple: true }),
    rows: tables.map((table) => observer.prepare(`select count(*) from ${table}`).pluck().get()),
    bytes: [filename, `${filename}-wal`].map((file) => statSync(file).size),
  };
}
