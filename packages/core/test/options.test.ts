import { describe, expect, it } from "vitest";
import { createMemoryStorage, createPetStore, type PetStoreOptions } from "@petstore/core";

/** In seconds. */
const YEAR = 31_536_000;

/** Calls createPetStore as a JavaScript host might, without types. */
const createLoosely = (options: unknown) => createPetStore(options as never);

describe("createPetStore", () => {
  it.each<[string, unknown]>([
    ["object", null],
    ["object", 5],
    ["storage", { storage: {} }],
    ["storage", { storage: null }],
    ["storage", { storage: { close: () => undefined } }],
    ["clock", { clock: null }],
    ["maxAnonymousOrigins", { maxAnonymousOrigins: 2 ** 32 + 5 }],
    ["plans", { plans: 5 }],
    ["plans", { plans: null }],
    ["plans", { plans: [] }],
    ["plans", { plans: new Map([["x", { perMinute: 1, perDay: 1 }]]) }],
    ["plans.a", { plans: { a: { perMinute: 1, perDay: 1, perHour: 3 } } }],
    ["ban", { ban: true }],
    ["ban", { ban: 5 }],
    ["ban", { ban: [] }],
    ["ban", { ban: null }],
    ["clock", { clock: {} }],
    ["random", { random: 5 }],
    ["maxAnonymousOrigins", { maxAnonymousOrigins: 0 }],
    ["maxAnonymousOrigins", { maxAnonymousOrigins: 1_000_001 }],
    ["plans.free", { plans: { free: { perMinute: 0, perDay: 1 } } }],
    ["plans.trial", { plans: { trial: { perMinute: 1 } } }],
    ["plans.trial", { plans: { trial: null } }],
    ["plans.trial", { plans: { trial: "unlimited" } }],
    ["plans.Trial Plan", { plans: { "Trial Plan": { perMinute: 1, perDay: 1 } } }],
    ["plans.a b", { plans: { "a b": { perMinute: 1, perDay: 1 } } }],
    ["ban.firstSeconds", { ban: { firstSeconds: 0 } }],
    ["ban.firstSeconds", { ban: { firstSeconds: YEAR + 1, longestSeconds: YEAR + 1 } }],
    ["ban.longestSeconds", { ban: { longestSeconds: YEAR + 1 } }],
    ["ban.longestSeconds", { ban: { firstSeconds: 60, longestSeconds: 30 } }],
    ["ban.afterRefusals", { ban: { afterRefusals: 1.5 } }],
    ["ban.forgottenAfterSeconds", { ban: { forgottenAfterSeconds: Infinity } }],
    ["ban.forgottenAfterSeconds", { ban: { forgottenAfterSeconds: YEAR + 1 } }],
    ["ban.minutes", { ban: { minutes: 5 } }],
    ["plan", { plan: {} }],
  ])("throws a message that names the option %s", (option, options) => {
    expect(() => createLoosely(options)).toThrow(TypeError);
    expect(() => createLoosely(options)).toThrow(`option ${option} `);
  });

  it.each([
    ["pets", ["create", "find", "list"]],
    ["keys", ["insert", "find", "list", "update"]],
    ["usage", ["charge", "update"]],
  ] as const)("refuses a storage whose %s lack one of %j", (part, methods) => {
    const storage = createMemoryStorage();
    for (const method of methods) {
      const lacking = { ...storage, [part]: { ...storage[part], [method]: undefined } };
      expect(() => createLoosely({ storage: lacking }), method).toThrow("option storage ");
    }
  });

  it("refuses a storage that cannot be closed", () => {
    const storage = { ...createMemoryStorage(), close: undefined };
    expect(() => createLoosely({ storage })).toThrow("option storage ");
  });

  it.each<PetStoreOptions>([
    { ban: { firstSeconds: 1, longestSeconds: 1, forgottenAfterSeconds: 1 } },
    { ban: { firstSeconds: YEAR, longestSeconds: YEAR, forgottenAfterSeconds: YEAR } },
    { maxAnonymousOrigins: 1 },
    { maxAnonymousOrigins: 1_000_000 },
  ])("takes %j, the least and the most", (options) => {
    createPetStore(options);
  });

  it("treats options that are undefined as left out", () => {
    createPetStore({ storage: undefined, clock: undefined, plans: undefined, ban: undefined });
  });
});
