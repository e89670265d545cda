import { systemClock, type Clock } from "./clock.js";
import type { BanRule } from "./limits/ban.js";
import {
  areRateLimits,
  limitsOnly,
  standardPlans,
  type Plan,
  type Plans,
  type RateLimits,
} from "./limits/plan.js";
import { DAY } from "./limits/window.js";
import { dependableRandom, systemRandom, type RandomSource } from "./random.js";
import { createMemoryStorage } from "./storage/memory/memory-storage.js";
import type { Storage } from "./storage/storage.js";

/** When and for how long a key that keeps sending after refusals is banned. */
export interface BanOptions {
  /** Refusals in a row after which the next one bans; the key's per-minute limit when left out. */
  readonly afterRefusals?: number | undefined;
  /** How long the first ban lasts; each further one lasts twice the one before. 60 when left out. */
  readonly firstSeconds?: number | undefined;
  /** How long a ban lasts at most; 3,600 when left out. */
  readonly longestSeconds?: number | undefined;
  /** How long after its end a ban is forgotten; 86,400, a day, when left out. */
  readonly forgottenAfterSeconds?: number | undefined;
}

/** What `createPetStore` can be given; everything has a default. */
export interface PetStoreOptions {
  /** Where everything is kept; a memory storage when left out. */
  readonly storage?: Storage | undefined;
  /** Where the time is read; the system clock when left out. */
  readonly clock?: Clock | undefined;
  /** Plans to add to the standard ones, or to put in their place, by name. */
  readonly plans?: Readonly<Record<string, Plan>> | undefined;
  /** When keys are banned; `false` for never. */
  readonly ban?: BanOptions | false | undefined;
  /**
   * How many origins of callers without a valid key are told apart at a time; beyond that the
   * longest unseen is forgotten. 10,000 when left out.
   */
  readonly maxAnonymousOrigins?: number | undefined;
  /** Where keys come from: a cryptographically secure source; the system's when left out. */
  readonly random?: RandomSource | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly plans: Plans;
  readonly ban: BanRule | undefined;
  /** What callers without a valid key have: the Free plan's limits. */
  readonly anonymousLimits: RateLimits;
  readonly maxAnonymousOrigins: number;
}

/**
 * Checks the options and completes them.
 * @throws TypeError that names the option, when one is wrong.
 */
export function parseSettings(options: PetStoreOptions): Settings {
  must(isRecord(options), "object", "must be an object");
  mustBeKnown(options, OPTIONS, "");
  const { storage = createMemoryStorage(), clock = systemClock, random = systemRandom } = options;
  const { plans: added = {}, ban = {}, maxAnonymousOrigins = 10_000 } = options;
  must(isStorage(storage), "storage", "must be a Storage: pets, keys, usage and close()");
  must(hasMethods(clock, ["now"]), "clock", "must have a now() in milliseconds");
  must(typeof random === "function", "random", "must be a function");
  must(
    isCount(maxAnonymousOrigins) && maxAnonymousOrigins <= MOST_ORIGINS,
    "maxAnonymousOrigins",
    `must be an integer from 1 to ${MOST_ORIGINS}`,
  );
  const plans = parsePlans(added);
  const free = plans.get("free");
  return Object.freeze({
    storage,
    clock,
    random: dependableRandom(random),
    plans,
    ban: parseBan(ban),
    anonymousLimits: free === undefined || free === "custom" ? standardPlans.free : free,
    maxAnonymousOrigins,
  });
}

function parsePlans(added: Readonly<Record<string, Plan>>): Plans {
  must(isRecord(added), "plans", "must be an object of plans by name");
  const plans = new Map<string, Plan>(Object.entries(standardPlans));
  for (const [name, plan] of Object.entries(added)) {
    const option = `plans.${name}`;
    must(/^[a-z][a-z0-9_-]{0,31}$/.test(name), option, "must have a short lower-case name");
    must(plan === "custom" || (areRateLimits(plan) && hasOnlyLimits(plan)), option, PLAN);
    plans.set(name, plan === "custom" ? plan : limitsOnly(plan));
  }
  return plans;
}

function parseBan(options: BanOptions | false): BanRule | undefined {
  if (options === false) return undefined;
  must(isRecord(options), "ban", "must be false or an object");
  mustBeKnown(options, BAN_OPTIONS, "ban.");
  const { afterRefusals, firstSeconds = 60, longestSeconds = 3_600 } = options;
  const { forgottenAfterSeconds = DAY / 1_000 } = options;
  must(
    afterRefusals === undefined || isCount(afterRefusals),
    "ban.afterRefusals",
    "must be a positive integer",
  );
  must(isDuration(firstSeconds), "ban.firstSeconds", DURATION);
  must(isDuration(longestSeconds), "ban.longestSeconds", DURATION);
  must(longestSeconds >= firstSeconds, "ban.longestSeconds", "must not be under firstSeconds");
  must(isDuration(forgottenAfterSeconds), "ban.forgottenAfterSeconds", DURATION);
  return Object.freeze({
    afterRefusals,
    first: firstSeconds * 1_000,
    longest: longestSeconds * 1_000,
    forgottenAfter: forgottenAfterSeconds * 1_000,
  });
}

/** Room for each is made beforehand: about 20 bytes. */
const MOST_ORIGINS = 1_000_000;
const OPTIONS = ["storage", "clock", "plans", "ban", "maxAnonymousOrigins", "random"];
const BAN_OPTIONS = ["afterRefusals", "firstSeconds", "longestSeconds", "forgottenAfterSeconds"];
const PLAN = 'must be "custom" or { perMinute, perDay }, each an integer from 1 to 2^53−1';
const DURATION = "must be an integer number of seconds, from 1 to 31,536,000 (a year)";

function isDuration(seconds: number): boolean {
  return isCount(seconds) && seconds <= 31_536_000;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** Whether a value is an object as one writes it in braces. */
function isRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isStorage(storage: unknown): boolean {
  return (
    hasMethods(storage, ["close"]) &&
    hasMethods(memberOf(storage, "pets"), ["create", "find", "list"]) &&
    hasMethods(memberOf(storage, "keys"), ["insert", "find", "list", "update"]) &&
    hasMethods(memberOf(storage, "usage"), ["charge", "update"])
  );
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof memberOf(value, name) === "function");
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function hasOnlyLimits(plan: object): boolean {
  return Object.keys(plan).every((name) => name === "perMinute" || name === "perDay");
}

function mustBeKnown(options: object, known: readonly string[], path: string): void {
  for (const name of Object.keys(options)) {
    must(known.includes(name), path + name, `is unknown; known are ${known.join(", ")}`);
  }
}

function must(holds: boolean, option: string, rule: string): void {
  if (!holds) throw new TypeError(`createPetStore: option ${option} ${rule}`);
}
