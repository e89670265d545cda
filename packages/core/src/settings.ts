import { fromThrowable } from "neverthrow";
import * as v from "valibot";
import { systemClock, type Clock } from "./clock.js";
import type { BanRule } from "./limits/charge.js";
import { areRateLimits, limitFields, limitsOf, standardPlans } from "./limits/plan.js";
import type { Plan, Plans } from "./limits/plan.js";
import { limitsOnly, type RateLimits } from "./limits/windows.js";
import { checkedRandom, systemRandom, type RandomSource } from "./random.js";
import { createMemoryStorage } from "./storage/memory-storage.js";
import type { Storage } from "./storage/storage.js";
import { checkedOptions, integer, strictRecord } from "./validation/options.js";

/** When and for how long a key that keeps sending after refusals is banned. */
export interface BanOptions {
  /** Counted refusals in a row after which the next one bans: from 1; by default the key's per-minute limit. */
  readonly afterRefusals?: number | undefined;
  /**
   * A refusal counts only if it comes more than this many seconds after the first of its row, because requests
   * that were under way then did not ignore it. From 0 to 60; 1 by default; 0: every refusal counts.
   */
  readonly graceSeconds?: number | undefined;
  /** How long the first ban lasts, in seconds: from 1 to a year; 60 by default. Each further one lasts twice as long. */
  readonly firstSeconds?: number | undefined;
  /** How long a ban lasts at most, in seconds: from 1 to a year; 3,600 by default. */
  readonly longestSeconds?: number | undefined;
  /** How long after its end a ban is forgotten, in seconds: from 1 to a year; 86,400 (a day) by default. */
  readonly forgottenAfterSeconds?: number | undefined;
}

export interface PetStoreOptions {
  /**
   * Keeps pets, keys and usage; in memory if left out. An explicit `undefined` is refused: it is usually left
   * by an opening that failed, and a store in memory would lose the data.
   */
  readonly storage?: Storage;
  /** The source of time; by default the storage's clock, if it has one, else the system clock. */
  readonly clock?: Clock | undefined;
  /**
   * Plans by name: added to the standard plans, or replacing them; each limit is from 1 to 2^53−1. None by default. All
   * stores on a storage need the same: see the warning `plan_differs`.
   */
  readonly plans?: Readonly<Record<string, Plan>> | undefined;
  /** When keys are banned; `false` for never. By default, as `BanOptions` says. */
  readonly ban?: BanOptions | false | undefined;
  /**
   * How many client addresses without a valid key are remembered: 1 to 1,000,000; 10,000 by default. The least
   * recently used is dropped.
   */
  readonly maxAnonymousClients?: number | undefined;
  /** How long idempotency keys are remembered, in seconds: at most a year; a day by default. 0: each call adds a pet. */
  readonly idempotencyKeySeconds?: number | undefined;
  /** A secure source of randomness for new keys; the system's by default. */
  readonly random?: RandomSource | undefined;
  /** How long `close()` waits for running calls and the storage, in seconds: from 1 to 86,400; 10 by default. */
  readonly closeTimeoutSeconds?: number | undefined;
}

export type Settings = ReturnType<typeof parseSettings>;

/** @throws TypeError that names the option, when one is wrong. */
export function parseSettings(options: PetStoreOptions) {
  const parsed = v.safeParse(optionsSchema, options, { abortPipeEarly: true });
  const checked = checkedOptions("createPetStore", parsed);
  const { storage = createMemoryStorage(), ban, idempotencyKeySeconds, ...others } = checked;
  return {
    ...others,
    storage,
    clock: others.clock ?? storage.clock ?? systemClock,
    ban: ban === false ? undefined : ban,
    /** How long an idempotency key is remembered, in milliseconds; 0: not at all. */
    idempotencyKeyLife: idempotencyKeySeconds * 1_000,
    anonymousLimits: limitsOf({ plan: "free", limits: standardPlans.free }, others.plans),
  };
}

const seconds = (least: number, most = 31_536_000, shown = "31,536,000 (a year)") =>
  integer(least, most, `must be an integer number of seconds, from ${least} to ${shown}`);

const banSchema = v.pipe(
  strictRecord({
    afterRefusals: v.optional(integer(1, Number.MAX_SAFE_INTEGER, "must be a positive integer")),
    graceSeconds: v.optional(seconds(0, 60, "60"), 1),
    firstSeconds: v.optional(seconds(1), 60),
    longestSeconds: v.optional(seconds(1), 3_600),
    forgottenAfterSeconds: v.optional(seconds(1), 86_400),
  }),
  v.forward(
    v.check(
      ({ firstSeconds, longestSeconds }) => longestSeconds >= firstSeconds,
      "must not be under firstSeconds",
    ),
    ["longestSeconds"],
  ),
  v.transform((ban): BanRule => ({
    afterRefusals: ban.afterRefusals,
    grace: ban.graceSeconds * 1_000,
    first: ban.firstSeconds * 1_000,
    longest: ban.longestSeconds * 1_000,
    forgottenAfter: ban.forgottenAfterSeconds * 1_000,
  })),
);

const PLAN_NAME = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,31}$/, "must have a short lower-case name"),
);
const PLAN = v.union(
  [v.literal("custom"), v.pipe(v.custom<RateLimits>(areRateLimits), v.transform(limitsOnly))],
  `must be "custom" or { ${limitFields} }, each an integer from 1 to 2^53−1`,
);

/** All plans as a Map: a record of valibot's drops names such as `constructor`. */
const plansSchema = v.pipe(
  v.custom<object>(
    // `import * as plans` makes a `Module`.
    (plans) => /^\[object (?:Object|Module)\]$/.test(Object.prototype.toString.call(plans)),
    "must be an object of plans by name",
  ),
  v.transform((plans) => new Map(Object.entries<unknown>({ ...plans }))),
  v.map(PLAN_NAME, PLAN),
  v.transform((plans): Plans => new Map([...Object.entries<Plan>(standardPlans), ...plans])),
);

const methodsOf = (part: object) =>
  v.looseObject(Object.fromEntries(Object.keys(part).map((name) => [name, v.function()])));

const clockSchema = v.looseObject({ now: v.function(), monotonic: v.optional(v.function()) });

const memory = createMemoryStorage();
const storageSchema = v.looseObject({
  close: v.function(),
  clock: v.optional(clockSchema),
  pets: methodsOf(memory.pets),
  keys: methodsOf(memory.keys),
  usage: methodsOf(memory.usage),
});

const optionsSchema = strictRecord({
  storage: v.exactOptional(
    v.custom<Storage>(
      (storage) => v.is(storageSchema, storage),
      ({ input }) =>
        input === undefined
          ? "is undefined; leave it out to keep everything in memory"
          : "must be a Storage: pets, keys, usage and close()",
    ),
  ),
  clock: v.optional(
    v.custom<Clock>(
      (clock) => v.is(clockSchema, clock),
      "must have a now() in milliseconds, and monotonic() or none",
    ),
  ),
  plans: v.optional(plansSchema, {}),
  ban: v.optional(
    v.lazy((ban) => (ban === false ? v.literal(false) : banSchema)),
    {},
  ),
  // About 20 bytes for each client are allocated in advance.
  maxAnonymousClients: v.optional(integer(1, 1_000_000), 10_000),
  idempotencyKeySeconds: v.optional(seconds(0), 86_400),
  random: v.optional(
    v.pipe(
      v.custom<RandomSource>((random) => typeof random === "function", "must be a function"),
      v.transform(checkedRandom),
      v.check(
        (random) => fromThrowable(random)(16).isOk(),
        "must return a Uint8Array of the requested size",
      ),
    ),
    () => systemRandom,
  ),
  closeTimeoutSeconds: v.optional(integer(1, 86_400), 10),
});
