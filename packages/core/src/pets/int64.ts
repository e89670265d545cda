/** The smallest int64: −2^63. */
export const INT64_MIN = -(2n ** 63n);

/** The largest int64: 2^63−1. */
export const INT64_MAX = 2n ** 63n - 1n;

/**
 * Reads a value as an int64: a `bigint` in range, or a `number` that is a safe integer.
 * Anything else, also an unsafe number whose digits are already lost, is `undefined`.
 */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "bigint") return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

const CANONICAL_DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/**
 * Reads text as an int64 in canonical decimal form, so that every int64 has exactly one spelling:
 * `1` is one; `01`, `1.0`, `+1` and `-0` are `undefined`.
 */
export function parseInt64(text: string): bigint | undefined {
  return CANONICAL_DECIMAL.test(text) ? toInt64(BigInt(text)) : undefined;
}
