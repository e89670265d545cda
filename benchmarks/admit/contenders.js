import { join } from "node:path";
import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { Database } from "../better-sqlite3.js";
import { rateLimit } from "express-rate-limit";
import { RateLimiterMemory, RateLimiterSQLite, RateLimiterUnion } from "rate-limiter-flexible";

/**
 * One way of admitting a request of one of `KEYS` keys, by number. `does`: what it does for a request.
 * @typedef {{ name: string, storage: "memory" | "SQLite", does: string, admit: (key: number) => unknown }} Contender
 */

/** How many keys take turns. */
export const KEYS = 100;

/** Never reached: every call is admitted. */
const LIMIT = 2 ** 40;
const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
const names = Array.from({ length: KEYS }, (_, key) => `key ${key}`);

/**
 * All of them, ready to be measured; those on SQLite each in a file of its own in this folder.
 * @param {string} folder
 * @returns {Promise<readonly Contender[]>}
 */
export async function openContenders(folder) {
  const opened = await openSqliteStorage({ filename: join(folder, "pets.db") });
  if (opened.isErr()) throw new Error(opened.error.message);
  return [
    ...(await petstore("memory", createPetStore())),
    ...memoryLimiters(),
    ...expressLimiters(),
    ...(await petstore("SQLite", createPetStore({ storage: opened.value }))),
    ...(await sqliteLimiters(join(folder, "limits.db"))),
  ];
}

/**
 * @param {Contender["storage"]} storage
 * @param {import("@petstore/core").PetStore} store
 * @returns {Promise<readonly Contender[]>}
 */
async function petstore(storage, store) {
  const secrets = await Promise.all(names.map((label) => issue(store, label)));
  const callers = secrets.map((secret) => store.as(secret));
  const does = "key looked up, two windows together, bans";
  return [
    { name: "petstore", storage, does, admit: (key) => callers[key]?.admit() },
    {
      name: "petstore, a new caller each time",
      storage,
      does: `secret hashed, ${does}`,
      admit: (key) => store.as(secrets[key]).admit(),
    },
  ];
}

/**
 * @param {import("@petstore/core").PetStore} store
 * @param {string} label
 */
async function issue({ keys }, label) {
  const limits = { perMinute: LIMIT, perDay: LIMIT };
  const issued = await keys.issue({ plan: "enterprise", limits, label });
  if (issued.isErr()) throw new Error(issued.error.message);
  return issued.value.secret;
}

/** @returns {readonly Contender[]} */
function memoryLimiters() {
  const minute = new RateLimiterMemory({ keyPrefix: "m", points: LIMIT, duration: MINUTE_SECONDS });
  const day = new RateLimiterMemory({ keyPrefix: "d", points: LIMIT, duration: DAY_SECONDS });
  const union = new RateLimiterUnion(minute, day);
  return flexible("memory", [
    ["RateLimiterUnion", UNION, (name) => union.consume(name)],
    ["two consumes", IN_A_ROW, (name) => minute.consume(name).then(() => day.consume(name))],
    ["one consume", ONE, (name) => minute.consume(name)],
  ]);
}

/** @returns {readonly Contender[]} */
function expressLimiters() {
  const create = (/** @type {number} */ seconds) =>
    rateLimit({
      windowMs: seconds * 1_000,
      limit: LIMIT,
      keyGenerator: ({ headers }) => String(headers.authorization),
      standardHeaders: false,
      legacyHeaders: false,
      validate: false,
    });
  const minute = create(MINUTE_SECONDS);
  const day = create(DAY_SECONDS);
  // The middleware asks a request for its headers, and a response for nothing.
  const requests = names.map((authorization) => ({ headers: { authorization } }));
  const response = {};
  const pass = (/** @type {unknown} */ limiter, /** @type {number} */ key) =>
    /** @type {(...args: unknown[]) => Promise<void>} */ (limiter)(requests[key], response, next);
  const next = () => undefined;
  const storage = "memory";
  return [
    {
      name: "express-rate-limit, two middlewares",
      storage,
      does: IN_A_ROW,
      admit: (key) => pass(minute, key).then(() => pass(day, key)),
    },
    {
      name: "express-rate-limit, one middleware",
      storage,
      does: ONE,
      admit: (key) => pass(minute, key),
    },
  ];
}

/**
 * @param {string} filename
 * @returns {Promise<readonly Contender[]>}
 */
async function sqliteLimiters(filename) {
  // As storage-sqlite sets up the connection that usage is written on.
  const storeClient = new Database(filename);
  storeClient.pragma("journal_mode = WAL");
  storeClient.pragma("synchronous = NORMAL");
  const create = async (/** @type {string} */ keyPrefix, /** @type {number} */ duration) => {
    const limiter = new RateLimiterSQLite({
      ...{ storeClient, storeType: "better-sqlite3", tableName: "limits" },
      ...{ keyPrefix, points: LIMIT, duration },
    });
    // It makes its table in the background.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return limiter;
  };
  const minute = await create("m", MINUTE_SECONDS);
  const day = await create("d", DAY_SECONDS);
  const union = new RateLimiterUnion(minute, day);
  return flexible("SQLite", [
    ["RateLimiterUnion", UNION, (name) => union.consume(name)],
    ["one consume", ONE, (name) => minute.consume(name)],
  ]);
}

const UNION = "two windows; a request that one refuses still costs the other";
const IN_A_ROW = "two windows, one after the other";
const ONE = "one window";

/**
 * @param {Contender["storage"]} storage
 * @param {readonly (readonly [way: string, does: string, consume: (name: string) => unknown])[]} ways
 * @returns {readonly Contender[]}
 */
function flexible(storage, ways) {
  return ways.map(([way, does, consume]) => ({
    name: `rate-limiter-flexible, ${way}`,
    storage,
    does,
    admit: (key) => consume(names[key] ?? ""),
  }));
}
