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
    ["storage", { storage: { ...createMemoryStorage(), clock: {} } }],
    ["random", { random: 5 }],
    ["random", { random: (size: number) => Array.from({ length: size }, Math.random) }],
    ["random", { random: (size: number) => new Uint8Array(size + 1) }],
    ["random", { random: () => new Uint8Array(0) }],
    ["random", { random: (size: number) => "x".repeat(size) }],
    ["random", { random: (size: number) => new Uint16Array(size) }],
    ["random", { random: () => Promise.resolve(new Uint8Array(1)) }],
    ["random", { random: () => expect.fail("no randomness") }],
    ["closeTimeoutSeconds", { closeTimeoutSeconds: 0 }],
    ["closeTimeoutSeconds", { closeTimeoutSeconds: "10" }],
    ["closeTimeoutSeconds", { closeTimeoutSeconds: 86_401 }],
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
    ["keys", ["insert", "find", "list", "update", "remove"]],
    ["usage", ["charge", "findHolder", "update"]],
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
