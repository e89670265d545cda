/** How many requests a key may make. Both limits are positive safe integers and apply at once. */
export interface RateLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** A plan's limits, or `"custom"` if each key on the plan has its own. */
export type Plan = RateLimits | "custom";

/** The plans of the specification ("Rate limits by plan"). */
export const standardPlans = Object.freeze({
  free: Object.freeze({ perMinute: 60, perDay: 1_000 }),
  pro: Object.freeze({ perMinute: 300, perDay: 10_000 }),
  business: Object.freeze({ perMinute: 1_000, perDay: 100_000 }),
  enterprise: "custom",
}) satisfies Readonly<Record<string, Plan>>;

/** All plans of a store, by name. */
export type Plans = ReadonlyMap<string, Plan>;

/** Whether a value is a pair of rate limits: two integers from 1 to 2^53−1, and nothing else. */
export function areRateLimits(value: unknown): value is RateLimits {
  if (typeof value !== "object" || value === null) return false;
  return (
    "perMinute" in value &&
    isRateLimit(value.perMinute) &&
    "perDay" in value &&
    isRateLimit(value.perDay) &&
    Object.keys(value).length === 2
  );
}

/** Returns a frozen copy of the limits. */
export function limitsOnly({ perMinute, perDay }: RateLimits): RateLimits {
  return Object.freeze({ perMinute, perDay });
}

/**
 * Returns the limits of a key: its plan's, or its own if the plan is custom or is unknown here (another
 * host may have added it).
 */
export function limitsOf(
  key: { readonly plan: string; readonly limits: RateLimits },
  plans: Plans,
): RateLimits {
  const plan = plans.get(key.plan);
  return plan === undefined || plan === "custom" ? key.limits : plan;
}

function isRateLimit(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}
