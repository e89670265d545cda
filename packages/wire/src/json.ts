import { parse } from "lossless-json";

/** Whether this JSON text may contain a number that `JSON.parse` rounds, or a fraction or exponent. */
export function mayRound(text: string): boolean {
  return /\d{16}|\d[.eE]/.test(text);
}

/**
 * Parses valid JSON text: every int64 is an exact `bigint`, and every other number is NaN. Of members with the same name,
 * the last one counts; `__proto__` is a name like any other.
 */
export function parseExactly(text: string): unknown {
  return parse(text, null, {
    parseNumber: readInteger,
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** int64 has at most 19 digits. */
const MAX_DIGITS = 19;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the exact integer of a JSON number (`7`, `1.0` and `1e2` are integers), or NaN if it is not
 * an integer or has more digits than any int64. It works on the text, so that nothing is rounded and
 * a huge exponent is never expanded.
 */
function readInteger(text: string): bigint | number {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  const first = indexOfFirstNonZero(digits);
  if (first === digits.length) return digits === "" ? Number.NaN : 0n;

  const last = indexOfLastNonZero(digits);
  const zeros = Number(exponent) - fraction.length + (digits.length - 1 - last);
  const significant = digits.slice(first, last + 1);
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return Number.NaN;
  return BigInt(sign + significant + "0".repeat(zeros));
}

function indexOfFirstNonZero(digits: string): number {
  let index = 0;
  while (digits[index] === "0") index += 1;
  return index;
}

function indexOfLastNonZero(digits: string): number {
  let index = digits.length - 1;
  while (digits[index] === "0") index -= 1;
  return index;
}
