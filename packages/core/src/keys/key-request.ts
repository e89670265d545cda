import { err, ok, type Result } from "neverthrow";
import { invalidKeyRequest, type InvalidKeyRequest } from "../errors.js";
import { fieldNames, isObject, ownField, timeOf } from "../input.js";
import { areRateLimits, limitsOnly, type Plans, type RateLimits } from "../limits/plan.js";
import type { IssueKeyInput, ListKeysInput } from "./key-ring.js";
import type { KeyQuery } from "../storage/key-storage.js";

const LABEL_LENGTH = 200;
const PAGE = { maximum: 1_000, default: 100 } as const;
/** The last time that a `Date` can tell. */
const LAST_TIME = 8_640_000_000_000_000;
const LONGEST_OVERLAP_SECONDS = 31_536_000;
const LABEL = `label must be text of at most ${String(LABEL_LENGTH)} characters`;
const EXPIRES_AT = "expiresAt must be a time in the future";
const OVERLAP = `overlapSeconds must be an integer from 0 to ${String(LONGEST_OVERLAP_SECONDS)}`;
const LIMIT = `limit must be an integer from 1 to ${PAGE.maximum}`;
const AFTER = "after must be a key's id";
const BANNED = "banned must be true or false";

/** A plan and the limits that a key has on it. */
export interface PlanChoice {
  readonly plan: string;
  readonly limits: RateLimits;
}

/** What to issue, validated. */
export interface KeyRequest extends PlanChoice {
  readonly label: string | undefined;
  readonly expiresAt: number | undefined;
}

// In all of these only own properties count, and each is read once.

/** Validates what to issue; the error names everything that is wrong. */
export function parseKeyRequest(
  input: IssueKeyInput,
  plans: Plans,
  now: number,
): Result<KeyRequest, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["plan", "limits", "label", "expiresAt"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const choice = choosePlan(input, plans);
  const label = ownField(input, "label");
  const expiresAt = timeOf(ownField(input, "expiresAt"));
  if (typeof choice !== "string" && isLabel(label) && isFuture(expiresAt, now)) {
    return ok({ ...choice, label, expiresAt });
  }
  return err(
    invalidKeyRequest([
      ...(typeof choice === "string" ? [choice] : []),
      ...(isLabel(label) ? [] : [LABEL]),
      ...(isFuture(expiresAt, now) ? [] : [EXPIRES_AT]),
    ]),
  );
}

/** Validates a plan and the limits given with it. */
export function parsePlanChoice(
  input: { readonly plan: string; readonly limits?: RateLimits | undefined },
  plans: Plans,
): Result<PlanChoice, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["plan", "limits"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const choice = choosePlan(input, plans);
  return typeof choice === "string" ? err(invalidKeyRequest([choice])) : ok(choice);
}

/** Validates for how long an old secret stays accepted; answers milliseconds. */
export function parseOverlap(options: {
  readonly overlapSeconds?: number | undefined;
}): Result<number, InvalidKeyRequest> {
  const shape = shapeProblem(options, ["overlapSeconds"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const seconds = ownField(options, "overlapSeconds", 0);
  return isIntegerIn(seconds, 0, LONGEST_OVERLAP_SECONDS)
    ? ok(seconds * 1_000)
    : err(invalidKeyRequest([OVERLAP]));
}

/** Validates which keys to list. */
export function parseKeyQuery(input: ListKeysInput): Result<KeyQuery, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["limit", "after", "banned"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const limit = ownField(input, "limit", PAGE.default);
  const after = ownField(input, "after");
  const banned = ownField(input, "banned", false);
  if (isIntegerIn(limit, 1, PAGE.maximum) && isTextOrMissing(after) && isBoolean(banned)) {
    return ok({ limit, after, banned });
  }
  return err(
    invalidKeyRequest([
      ...(isIntegerIn(limit, 1, PAGE.maximum) ? [] : [LIMIT]),
      ...(isTextOrMissing(after) ? [] : [AFTER]),
      ...(isBoolean(banned) ? [] : [BANNED]),
    ]),
  );
}

/** The plan that was chosen and its limits, or, as text, what is wrong with the choice. */
function choosePlan(input: object, plans: Plans): PlanChoice | string {
  const name = ownField(input, "plan");
  const limits = ownField(input, "limits");
  const plan = typeof name === "string" ? plans.get(name) : undefined;
  if (typeof name !== "string" || plan === undefined) {
    return `plan must be one of ${[...plans.keys()].join(", ")}`;
  }
  if (plan !== "custom") {
    if (limits !== undefined) return `the ${name} plan has fixed limits; leave limits out`;
    return { plan: name, limits: plan };
  }
  const own = readLimits(limits);
  return areRateLimits(own)
    ? { plan: name, limits: limitsOnly(own) }
    : `the ${name} plan needs limits of its own: perMinute and perDay, each a positive integer`;
}

function readLimits(limits: unknown): unknown {
  if (!isObject(limits)) return undefined;
  return { perMinute: ownField(limits, "perMinute"), perDay: ownField(limits, "perDay") };
}

/** What is wrong with the object itself: a misspelt field would silently go without effect. */
function shapeProblem(input: unknown, fields: readonly string[]): string | undefined {
  if (!isObject(input)) return "the request must be an object";
  const names = fieldNames(input);
  if (names === undefined) return "the request must be an object whose fields can be read";
  const unknown = names.find((field) => !fields.includes(field));
  return unknown === undefined
    ? undefined
    : `${unknown} is unknown; known are ${fields.join(", ")}`;
}

function isLabel(label: unknown): label is string | undefined {
  if (label === undefined) return true;
  return (
    typeof label === "string" &&
    label.length <= LABEL_LENGTH &&
    label.isWellFormed() &&
    !label.includes("\0")
  );
}

function isFuture(time: unknown, now: number): time is number | undefined {
  return time === undefined || isIntegerIn(time, now + 1, LAST_TIME);
}

function isIntegerIn(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function isTextOrMissing(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}
