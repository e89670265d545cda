import { err, ok, type Result } from "neverthrow";
import { invalidKeyRequest, type InvalidKeyRequest } from "../errors.js";
import { areRateLimits, limitsOnly, type Plans, type RateLimits } from "../limits/plan.js";
import type { IssueKeyInput, ListKeysInput } from "./key-ring.js";
import type { KeyQuery } from "../storage/key-storage.js";

const LABEL_LENGTH = 200;
const PAGE = { maximum: 1_000, default: 100 } as const;
const LONGEST_OVERLAP_SECONDS = 31_536_000;

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

/** Validates what to issue; the error names everything that is wrong. */
export function parseKeyRequest(
  input: IssueKeyInput,
  plans: Plans,
  now: number,
): Result<KeyRequest, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["plan", "limits", "label", "expiresAt"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const { label, expiresAt } = input;
  const expiry = expiresAt instanceof Date ? expiresAt.getTime() : expiresAt;
  const limits = chooseLimits(input, plans);
  const problems = [
    ...(typeof limits === "string" ? [limits] : []),
    ...(isLabel(label) ? [] : [`label must be text of at most ${String(LABEL_LENGTH)} characters`]),
    ...(isFuture(expiry, now) ? [] : ["expiresAt must be a time in the future"]),
  ];
  if (typeof limits === "string" || problems.length > 0) return err(invalidKeyRequest(problems));
  return ok({ plan: input.plan, limits, label, expiresAt: expiry });
}

/** Validates a plan and the limits given with it. */
export function parsePlanChoice(
  input: { readonly plan: string; readonly limits?: RateLimits | undefined },
  plans: Plans,
): Result<PlanChoice, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["plan", "limits"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const limits = chooseLimits(input, plans);
  if (typeof limits === "string") return err(invalidKeyRequest([limits]));
  return ok({ plan: input.plan, limits });
}

/** Validates for how long an old secret stays accepted; answers milliseconds. */
export function parseOverlap(options: {
  readonly overlapSeconds?: number | undefined;
}): Result<number, InvalidKeyRequest> {
  const problem = shapeProblem(options, ["overlapSeconds"]);
  if (problem !== undefined) return err(invalidKeyRequest([problem]));
  const { overlapSeconds: seconds = 0 } = options;
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= LONGEST_OVERLAP_SECONDS) {
    return ok(seconds * 1_000);
  }
  return err(
    invalidKeyRequest([
      `overlapSeconds must be an integer from 0 to ${String(LONGEST_OVERLAP_SECONDS)}`,
    ]),
  );
}

/** Validates which keys to list. */
export function parseKeyQuery(input: ListKeysInput): Result<KeyQuery, InvalidKeyRequest> {
  const shape = shapeProblem(input, ["limit", "after", "banned"]);
  if (shape !== undefined) return err(invalidKeyRequest([shape]));
  const { limit = PAGE.default, after, banned = false } = input;
  const problems = [
    ...(Number.isInteger(limit) && limit >= 1 && limit <= PAGE.maximum
      ? []
      : [`limit must be an integer from 1 to ${PAGE.maximum}`]),
    ...(after === undefined || typeof after === "string" ? [] : ["after must be a key's id"]),
    ...(typeof banned === "boolean" ? [] : ["banned must be true or false"]),
  ];
  return problems.length === 0 ? ok({ limit, after, banned }) : err(invalidKeyRequest(problems));
}

/** The limits of the choice, or, as text, what is wrong with it. */
function chooseLimits(
  { plan: name, limits }: { readonly plan: string; readonly limits?: RateLimits | undefined },
  plans: Plans,
): RateLimits | string {
  const plan = plans.get(name);
  if (plan === undefined) return `plan must be one of ${[...plans.keys()].join(", ")}`;
  if (plan !== "custom") {
    return limits === undefined ? plan : `the ${name} plan has fixed limits; leave limits out`;
  }
  return areRateLimits(limits)
    ? limitsOnly(limits)
    : `the ${name} plan needs limits of its own: perMinute and perDay, each a positive integer`;
}

/** What is wrong with the object itself: a misspelt field would silently go without effect. */
function shapeProblem(input: unknown, fields: readonly string[]): string | undefined {
  if (typeof input !== "object" || input === null) return "the request must be an object";
  const unknown = Object.keys(input).find((field) => !fields.includes(field));
  return unknown === undefined
    ? undefined
    : `${unknown} is unknown; known are ${fields.join(", ")}`;
}

function isLabel(label: unknown): boolean {
  if (label === undefined) return true;
  return (
    typeof label === "string" &&
    label.length <= LABEL_LENGTH &&
    label.isWellFormed() &&
    !label.includes("\0")
  );
}

function isFuture(time: number | undefined, now: number): boolean {
  return time === undefined || (Number.isSafeInteger(time) && time > now);
}
