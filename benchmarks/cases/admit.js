// What admitting a request costs, beside other limiters.
import { join } from "node:path";
import { createPetStore } from "@petstore/core";
import { rateLimit } from "express-rate-limit";
import { RateLimiterMemory, RateLimiterSQLite, RateLimiterUnion } from "rate-limiter-flexible";
import { Database } from "../better-sqlite3.js";
import { makeFolder } from "../instrument/servers.js";
import { issue, openStore } from "../instrument/store.js";
import { compareWork, repeatBy } from "../instrument/turns.js";

/** @import { PetStore } from "@petstore/core" */
/** @import { RateLimiterAbstract } from "rate-limiter-flexible" */
/** @import { Case } from "../cases.js" */

/** One way of admitting a request of a key, by number. @typedef {{ name: string, does: string, admit: (key: number) => unknown }} Limiter */

const CALLERS = 32;
/** How many keys take turns. */
const KEYS = 100;
/** Never reached: every call is admitted. */
const LIMIT = 2 ** 40;
const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
const NAMES = Array.from({ length: KEYS }, (_, key) => `key ${key}`);
const IN_A_ROW = "two windows, one after the other";
const ONE = "one window";

/** @type {Case} */
export const admit = {
  name: "admit",
  measures: "what admitting a request costs, beside other limiters, in memory and in SQLite",
  defaults: { rounds: 21, seconds: 0, pets: 0 },
  secondsOfRound: () => 1,
  run: async ({ rounds }) => {
    const folder = makeFolder();
    const limiter = (/** @type {number} */ duration) =>
      new RateLimiterMemory({ keyPrefix: String(duration), points: LIMIT, duration });
    const memory = flexible(limiter(MINUTE_SECONDS), limiter(DAY_SECONDS));
    const sqlite = await sqliteLimiters(join(folder, "limits.db"));
    const [inMemory, inSqlite] = [createPetStore(), await openStore(join(folder, "pets.db"))];
    const limiters = {
      memory: [...(await petstore(inMemory)), ...Object.values(memory), ...expressLimiters()],
      SQLite: [...(await petstore(inSqlite)), sqlite.union, sqlite.one],
    };
    const contenders = Object.entries(limiters).flatMap(([storage, all]) =>
      all.flatMap(({ name, admit: call }) =>
        [1, CALLERS].map((callers) => ({
          name: `${storage}, ${name}, ${callers}`,
          times: storage === "memory" ? 20_000 : 1_000,
          work: repeatBy(callers, (index) => call(index % KEYS)),
        })),
      ),
    );
    const samples = await compareWork(contenders, rounds);
    return Object.entries(limiters).map(([storage, all]) => ({
      name: `admit-${storage.toLowerCase()}`,
      title: `Admitting a request, in ${storage}`,
      text: `Microseconds a call, of ${KEYS} keys in turn; medians of ${rounds} interleaved rounds; × is the cost relative to petstore.`,
      head: ["limiter", "does", "alone", "×", `${CALLERS} callers`, "×"],
      rows: all.map(({ name, does }) => [
        ...[name, does],
        ...[1, CALLERS].flatMap((callers) => {
          const id = `${storage}, ${name}, ${callers}`;
          const own = `${storage}, petstore, ${callers}`;
          return [samples.median(id, "time", 2), samples.ratio(id, own, "time")];
        }),
      ]),
    }));
  },
};

/** @param {PetStore} store @returns {Promise<readonly Limiter[]>} */
async function petstore(store) {
  const secrets = await Promise.all(NAMES.map(() => issue(store)));
  const callers = secrets.map((secret) => store.as(secret));
  const does = "key looked up, two windows together, bans";
  return [
    { name: "petstore", does, admit: (key) => callers[key]?.admit() },
    {
      name: "petstore, a new caller each time",
      does: `secret hashed, ${does}`,
      admit: (key) => store.as(secrets[key]).admit(),
    },
  ];
}

/** Ways to use two limiters of rate-limiter-flexible. @param {RateLimiterAbstract} minute @param {RateLimiterAbstract} day */
function flexible(minute, day) {
  const union = new RateLimiterUnion(minute, day);
  /** @type {(way: string, does: string, consume: (key: string) => unknown) => Limiter} */
  const limiter = (way, does, consume) => ({
    ...{ name: `rate-limiter-flexible, ${way}`, does },
    admit: (key) => consume(NAMES[key] ?? ""),
  });
  const refusal = "two windows; a request that one refuses still costs the other";
  return {
    union: limiter("RateLimiterUnion", refusal, (key) => union.consume(key)),
    two: limiter("two consumes", IN_A_ROW, (key) =>
      minute.consume(key).then(() => day.consume(key)),
    ),
    one: limiter("one consume", ONE, (key) => minute.consume(key)),
  };
}

/** @returns {readonly Limiter[]} */
function expressLimiters() {
  const create = (/** @type {number} */ seconds) =>
    rateLimit({
      ...{ windowMs: seconds * 1_000, limit: LIMIT, validate: false },
      ...{ standardHeaders: false, legacyHeaders: false },
      keyGenerator: ({ headers }) => String(headers.authorization),
    });
  const [minute, day] = [create(MINUTE_SECONDS), create(DAY_SECONDS)];
  // The middleware asks a request for its headers, and a response for nothing.
  const requests = NAMES.map((authorization) => ({ headers: { authorization } }));
  const response = {};
  const next = () => undefined;
  const pass = (/** @type {unknown} */ limiter, /** @type {number} */ key) =>
    /** @type {(...args: unknown[]) => Promise<void>} */ (limiter)(requests[key], response, next);
  const twice = (/** @type {number} */ key) => pass(minute, key).then(() => pass(day, key));
  return [
    { name: "express-rate-limit, two middlewares", does: IN_A_ROW, admit: twice },
    { name: "express-rate-limit, one middleware", does: ONE, admit: (key) => pass(minute, key) },
  ];
}

/** @param {string} filename */
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
  return flexible(await create("m", MINUTE_SECONDS), await create("d", DAY_SECONDS));
}
