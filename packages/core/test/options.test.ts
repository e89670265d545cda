import { describe, expect, it } from "vitest";
import { createPetStore } from "@petstore/core";

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
    ["plans.free", { plans: { free: { perMinute: 0, perDay: 1 } } }],
    ["plans.trial", { plans: { trial: { perMinute: 1 } } }],
    ["plans.trial", { plans: { trial: null } }],
    ["plans.trial", { plans: { trial: "unlimited" } }],
    ["plans.Trial Plan", { plans: { "Trial Plan": { perMinute: 1, perDay: 1 } } }],
    ["ban.firstSeconds", { ban: { firstSeconds: 0 } }],
    ["ban.longestSeconds", { ban: { firstSeconds: 60, longestSeconds: 30 } }],
    ["ban.afterRefusals", { ban: { afterRefusals: 1.5 } }],
    ["ban.forgottenAfterSeconds", { ban: { forgottenAfterSeconds: Infinity } }],
    ["ban.minutes", { ban: { minutes: 5 } }],
    ["plan", { plan: {} }],
  ])("throws a message that names the option %s", (option, options) => {
    expect(() => createLoosely(options)).toThrow(TypeError);
    expect(() => createLoosely(options)).toThrow(`option ${option} `);
  });

  it("takes options that are undefined for left out", () => {
    createPetStore({ storage: undefined, clock: undefined, plans: undefined, ban: undefined });
  });
});
