import { describe, expect, it } from "vitest";
import { createMemoryStorage, createPetStore, type PetStoreOptions } from "@petstore/core";

/** In seconds. */
const YEAR = 31_536_000;

const OBJECT = "must be an object";
const STORAGE = "must be a Storage: pets, keys, usage and close()";
const CLOCK = "must have a now() in milliseconds";
const PLANS = "must be an object of plans by name";
const LIMITS = 'must be "custom" or { perMinute, perDay }, each an integer from 1 to 2^53−1';
const BYTES = "must return a Uint8Array of the requested size";
const SECONDS = "must be an integer number of seconds, from 1 to 31,536,000 (a year)";
const BOTH = `${SECONDS}; option ban.longestSeconds ${SECONDS}`;
const UNDER = "must not be under firstSeconds";
const NAME = "must have a short lower-case name";
const ORIGINS = "must be an integer from 1 to 1000000";
const TIMEOUT = "must be an integer from 1 to 86400";
const GRACE = "must be an integer number of seconds, from 0 to 60";
const LIFE = "must be an integer number of seconds, from 0 to 31,536,000 (a year)";
const BAN_OPTIONS =
  "is unknown; known are afterRefusals, graceSeconds, firstSeconds, longestSeconds, forgottenAfterSeconds";
const OPTIONS =
  "is unknown; known are storage, clock, plans, ban, maxAnonymousOrigins, idempotencyKeySeconds, random, closeTimeoutSeconds";
const LONGEST_NAME = "a".repeat(32);

/** Calls createPetStore as a JavaScript host might, without types. */
const createLoosely = (options: unknown) => createPetStore(options as never);

describe("createPetStore", () => {
  it.each<[string, string, unknown]>([
    ["object", OBJECT, null],
    ["storage", STORAGE, { storage: null }],
    ["storage", STORAGE, { storage: { close: () => undefined } }],
    ["storage", STORAGE, { storage: { ...createMemoryStorage(), close: undefined } }],
    ["clock", CLOCK, { clock: null }],
    ["maxAnonymousOrigins", ORIGINS, { maxAnonymousOrigins: 2 ** 32 + 5 }],
    ["plans", PLANS, { plans: null }],
    ["plans", PLANS, { plans: [] }],
    ["plans", PLANS, { plans: new Map([["x", { perMinute: 1, perDay: 1 }]]) }],
    ["plans.a", LIMITS, { plans: { a: { perMinute: 1, perDay: 1, perHour: 3 } } }],
    ["ban", OBJECT, { ban: 5 }],
    ["ban", OBJECT, { ban: [] }],
    ["ban", OBJECT, { ban: null }],
    ["clock", CLOCK, { clock: {} }],
    ["storage", STORAGE, { storage: { ...createMemoryStorage(), clock: {} } }],
    ["random", "must be a function", { random: 5 }],
    ["random", BYTES, { random: (size: number) => Array.from({ length: size }, Math.random) }],
    ["random", BYTES, { random: (size: number) => new Uint8Array(size + 1) }],
    ["random", BYTES, { random: () => new Uint8Array(0) }],
    ["random", BYTES, { random: (size: number) => new Uint16Array(size) }],
    ["random", BYTES, { random: () => expect.fail("no randomness") }],
    ["closeTimeoutSeconds", TIMEOUT, { closeTimeoutSeconds: 0 }],
    ["closeTimeoutSeconds", TIMEOUT, { closeTimeoutSeconds: 86_401 }],
    ["maxAnonymousOrigins", ORIGINS, { maxAnonymousOrigins: 0 }],
    ["maxAnonymousOrigins", ORIGINS, { maxAnonymousOrigins: 1_000_001 }],
    ["plans.free", LIMITS, { plans: { free: { perMinute: 0, perDay: 1 } } }],
    ["plans.trial", LIMITS, { plans: { trial: { perMinute: 1 } } }],
    ["plans.trial", LIMITS, { plans: { trial: null } }],
    ["plans.Trial Plan", NAME, { plans: { "Trial Plan": "custom" } }],
    ["plans.a b", NAME, { plans: { "a b": "custom" } }],
    ["ban.firstSeconds", SECONDS, { ban: { firstSeconds: 0 } }],
    ["ban.firstSeconds", BOTH, { ban: { firstSeconds: YEAR + 1, longestSeconds: YEAR + 1 } }],
    ["ban.longestSeconds", SECONDS, { ban: { longestSeconds: YEAR + 1 } }],
    ["ban.longestSeconds", UNDER, { ban: { firstSeconds: 60, longestSeconds: 30 } }],
    ["ban.afterRefusals", "must be a positive integer", { ban: { afterRefusals: 1.5 } }],
    ["ban.forgottenAfterSeconds", SECONDS, { ban: { forgottenAfterSeconds: Infinity } }],
    ["ban.minutes", BAN_OPTIONS, { ban: { minutes: 5 } }],
    ["plan", OPTIONS, { plan: {} }],
    ["plans.1", NAME, { plans: { "1": "custom" } }],
    ["plans.a:", NAME, { plans: { "a:": "custom" } }],
    [`plans.${LONGEST_NAME}a`, NAME, { plans: { [`${LONGEST_NAME}a`]: "custom" } }],
    ["ban.afterRefusals", "must be a positive integer", { ban: { afterRefusals: 0 } }],
    ["ban.graceSeconds", GRACE, { ban: { graceSeconds: -1 } }],
    ["ban.graceSeconds", GRACE, { ban: { graceSeconds: 61 } }],
    ["idempotencyKeySeconds", LIFE, { idempotencyKeySeconds: -1 }],
    ["idempotencyKeySeconds", LIFE, { idempotencyKeySeconds: YEAR + 1 }],
  ])("throws a message that names the option %s", (option, rule, options) => {
    expect(() => createLoosely(options)).toThrow(
      new TypeError(`createPetStore: option ${option} ${rule}`),
    );
  });

  it.each([
    ["pets", ["create", "find", "list"]],
    ["keys", ["insert", "find", "list", "update", "remove"]],
    ["usage", ["charge", "findByDigest", "update"]],
  ] as const)("refuses a storage whose %s lack one of %j", (part, methods) => {
    const storage = createMemoryStorage();
    for (const method of methods) {
      const lacking = { ...storage, [part]: { ...storage[part], [method]: undefined } };
      expect(() => createLoosely({ storage: lacking }), method).toThrow("option storage ");
    }
  });

  it.each<PetStoreOptions>([
    { ban: { firstSeconds: 1, longestSeconds: 1, forgottenAfterSeconds: 1 } },
    { ban: { firstSeconds: YEAR, longestSeconds: YEAR, forgottenAfterSeconds: YEAR } },
    { ban: { graceSeconds: 60, afterRefusals: 1 }, closeTimeoutSeconds: 86_400 },
    { maxAnonymousOrigins: 1, idempotencyKeySeconds: YEAR, closeTimeoutSeconds: 1 },
    { maxAnonymousOrigins: 1_000_000, plans: { [LONGEST_NAME]: "custom", a: "custom" } },
  ])("takes %j, the least and the most", (options) => {
    createPetStore(options);
  });

  it("treats options that are undefined as left out", () => {
    createPetStore({ clock: undefined, plans: undefined, ban: undefined, random: undefined });
  });

  it("takes no undefined for a storage, which a failed opening would leave behind", () => {
    expect(() => createLoosely({ storage: undefined })).toThrow(
      new TypeError(
        "createPetStore: option storage is undefined; leave it out to keep everything in memory",
      ),
    );
  });
});
