import { inspect } from "node:util";
import { expect, it } from "vitest";
import { createMemoryStorage, createPetStore, type PetStoreOptions } from "@petstore/core";
import { systemClock } from "@petstore/core/internal";
import { parseSettings } from "../src/settings.js";
import { LIMIT_FIELDS } from "./support/open-store.js";

/** In seconds. */
const YEAR = 31_536_000;
const LIMITS = `must be "custom" or ${LIMIT_FIELDS}, each an integer from 1 to 2^53−1`;
const BYTES = "must return a Uint8Array of the requested size";
const SECONDS = "must be an integer number of seconds, from 1 to 31,536,000 (a year)";
const CLOCK = "must have a now() in milliseconds, and monotonic() or none";
const TOO_LONG = { firstSeconds: YEAR + 1, longestSeconds: YEAR + 1 };
const NAME = "must have a short lower-case name";
const LONGEST_NAME = "a".repeat(32);
const createLoosely = (options: unknown) => createPetStore(options as never);
const memory = createMemoryStorage();
it.each<[string, string, ...unknown[]]>([
  ["storage", "must be a Storage: pets, keys, usage and close()", null, { ...memory, close: 1 }],
  ["storage", "must be a Storage: pets, keys, usage and close()", { ...memory, clock: {} }],
  ["clock", CLOCK, null, {}, { now: Date.now, monotonic: 5 }],
  ["plans", "must be an object of plans by name", null, [], new Map([["x", "custom"]])],
  ["plans.a", LIMITS, { perMinute: 1, perDay: 1, perWeek: 3 }],
  ["plans.free", LIMITS, { perMinute: 0, perDay: 1 }, { perMinute: 1 }, null],
  ...["Trial", "a b", "a:", "1", `${LONGEST_NAME}a`, "toString"].map(
    (name): [string, string, string] => [`plans.${name}`, NAME, "custom"],
  ),
  ["ban", "must be an object", 5, [], null],
  ["ban.afterRefusals", "must be a positive integer", 0, 1.5],
  ["ban.graceSeconds", "must be an integer number of seconds, from 0 to 60", -1, 61],
  ["ban.firstSeconds", SECONDS, 0],
  ["ban.longestSeconds", SECONDS, YEAR + 1],
  ["ban.longestSeconds", "must not be under firstSeconds", 30],
  ["ban.forgottenAfterSeconds", SECONDS, Infinity],
  [
    "ban.minutes",
    "is unknown; known are afterRefusals, graceSeconds, firstSeconds, longestSeconds, forgottenAfterSeconds",
    5,
  ],
  [
    "plan",
    "is unknown; known are storage, clock, plans, ban, maxAnonymousClients, idempotencyKeySeconds, random, closeTimeoutSeconds",
    {},
  ],
  ["random", "must be a function", 5],
  ["random", BYTES, (size: number) => Array.from({ length: size }, Math.random)],
  ["random", BYTES, (size: number) => new Uint8Array(size + 1), () => new Uint8Array(0)],
  ["random", BYTES, (size: number) => new Uint16Array(size), () => expect.fail("no randomness")],
  ["closeTimeoutSeconds", "must be an integer from 1 to 86400", 0, 86_401],
  ["maxAnonymousClients", "must be an integer from 1 to 1000000", 0, 1_000_001, 2 ** 32 + 5],
  ["idempotencyKeySeconds", SECONDS.replace("from 1", "from 0"), -1, YEAR + 1],
])("throws a message that names the option: %s %s", (option, rule, ...values) => {
  const [name = "", member] = option.split(".");
  for (const value of values) {
    const options = { [name]: member === undefined ? value : { [member]: value } };
    expect(() => createLoosely(options), inspect(value)).toThrow(
      new TypeError(`createPetStore: option ${option} ${rule}`),
    );
  }
});

it.each<[string, unknown]>([
  [`option plans.__proto__ ${NAME}`, { plans: JSON.parse('{"__proto__":"custom"}') as unknown }],
  ["the options must be an object", null],
  [`option ban.firstSeconds ${SECONDS}; option ban.longestSeconds ${SECONDS}`, { ban: TOO_LONG }],
  [
    "option storage is undefined; leave it out to keep everything in memory",
    { storage: undefined },
  ],
])("names every wrong option, and takes no other things for options: %s", (problem, options) => {
  expect(() => createLoosely(options)).toThrow(new TypeError(`createPetStore: ${problem}`));
});

it.each(["pets", "keys", "usage"] as const)("refuses a storage whose %s lack a method", (part) => {
  const storage = createMemoryStorage();
  const methods = Object.keys(storage[part]);
  expect(methods.length).toBeGreaterThan(2);
  for (const method of methods) {
    const lacking = { ...storage, [part]: { ...storage[part], [method]: undefined } };
    expect(() => createLoosely({ storage: lacking }), method).toThrow("option storage ");
  }
});

it.each<PetStoreOptions>([
  { ban: { firstSeconds: 1, longestSeconds: 1, forgottenAfterSeconds: 1 } },
  { ban: { firstSeconds: YEAR, longestSeconds: YEAR, forgottenAfterSeconds: YEAR } },
  { ban: { graceSeconds: 60, afterRefusals: 1 }, closeTimeoutSeconds: 86_400 },
  { maxAnonymousClients: 1, idempotencyKeySeconds: YEAR, closeTimeoutSeconds: 1 },
  { maxAnonymousClients: 1_000_000, plans: { [LONGEST_NAME]: "custom", a: "custom" } },
  { plans: (await import(`data:text/javascript,export const ${LONGEST_NAME}="custom"`)) as never },
])("takes %j: the least and the most", (options) => void createPetStore(options));

const UNDEFINED = { clock: undefined, plans: undefined, ban: undefined, random: undefined };
it.each([{}, UNDEFINED])("has its defaults with %j", (options) => {
  const { ban, plans, anonymousLimits, ...others } = parseSettings(options);
  const rule = { afterRefusals: undefined, grace: 1_000, first: 60_000, longest: 3_600_000 };
  expect(ban).toEqual({ ...rule, forgottenAfter: 86_400_000 });
  expect([...plans.keys()]).toEqual(["free", "pro", "business", "enterprise"]);
  expect(anonymousLimits).toEqual({ perMinute: 60, perDay: 1_000 });
  const rest = { maxAnonymousClients: 10_000, idempotencyKeyLife: 86_400_000 };
  expect(others).toMatchObject({ ...rest, closeTimeoutSeconds: 10, clock: systemClock });
});
