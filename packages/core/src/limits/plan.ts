import type { StoredApiKey } from "../keys/api-key.js";
import type { StorageWarning } from "../storage/storage.js";
import { isIntegerFrom, ownField } from "../validation/fields.js";
import { isOptional, windowNames, windows, type RateLimits } from "./windows.js";

/** A plan's limits, or `"custom"` if each key on the plan has its own. */
export type Plan = RateLimits | "custom";

/** The plans of the specification ("Rate limits by plan"). */
export const standardPlans = Object.freeze({
  free: Object.freeze({ perMinute: 60, perDay: 1_000 }),
  pro: Object.freeze({ perMinute: 300, perDay: 10_000 }),
  business: Object.freeze({ perMinute: 1_000, perDay: 100_000 }),
  enterprise: "custom",
}) satisfies Readonly<Record<string, Plan>>;

export type Plans = ReadonlyMap<string, Plan>;

export const limitNames = windowNames.map((name) => windows[name].limit);

/** The names of a plan's limits as messages show them: a question mark follows one that a plan may leave out. */
export const limitFields = windowNames
  .map((name) => windows[name].limit + (isOptional(name) ? "?" : ""))
  .join(", ");

/** Whether a value is rate limits: an integer from 1 to 2^53−1 for each window, and nothing else. */
export function areRateLimits(value: unknown): value is RateLimits {
  if (typeof value !== "object" || value === null) return false;
  if (Object.keys(value).some((key) => limitNames.every((name) => name !== key))) return false;
  return windowNames.every((name) => {
    const limit = ownField(value, windows[name].limit);
    if (limit === undefined) return isOptional(name);
    return isIntegerFrom(1, Number.MAX_SAFE_INTEGER, limit);
  });
}

/** Returns the plan's limits, or the key's own if the plan is custom or unknown here: another host may know it. */
export function limitsOf(key: Limited, plans: Plans): RateLimits {
  const plan = plans.get(key.plan);
  return plan === undefined || plan === "custom" ? key.limits : plan;
}

type Limited = Pick<StoredApiKey, "plan" | "limits">;

/** Warns once for each plan if another host may give it other limits: together, they then admit more than one alone. */
export function createPlanCheck(
  plans: Plans,
  warn: (warning: StorageWarning) => void,
): (key: Limited) => void {
  const warned = new Set<string>();
  return ({ plan, limits }) => {
    const here = plans.get(plan);
    const isSame =
      here === "custom" ||
      (here !== undefined && limitNames.every((name) => here[name] === limits[name]));
    if (isSame || warned.has(plan)) return;
    warned.add(plan);
    const problem =
      here === undefined
        ? "is unknown to this process, which gives its keys the limits that are stored with them"
        : "has other limits in this process than when one of its keys was issued";
    const message = `The plan ${JSON.stringify(plan)} ${problem}. ${ADVICE}`;
    warn({ code: "plan_differs", message });
  };
}

const ADVICE = "All processes on a storage must have the same plans for its limits to be exact.";
