export const INT64_MIN = -(2n ** 63n);

export const INT64_MAX = 2n ** 63n - 1n;

/** Converts an int64; `undefined` for anything else, and for an unsafe `number`, which has lost its last digits. */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "bigint") return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** Describes the problem that a field is not an int64; for an unsafe number, also how to pass it. */
export function int64Problem(field: string, value: unknown): string {
  const problem = `${field} must be an int64 integer`;
  const isRounded = Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 63;
  return isRounded ? `${problem}; beyond 2^53 − 1, pass a bigint` : problem;
}

const CANONICAL_DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Parses an int64 in its one canonical form; `undefined` for anything else, such as `01`, `1.0`, `+1`, `-0`. */
export function parseInt64(text: string): bigint | undefined {
  return CANONICAL_DECIMAL.test(text) ? toInt64(BigInt(text)) : undefined;
}
