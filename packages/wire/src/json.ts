import { parse } from "lossless-json";

const ROUNDED = /\d{16}|\d[.eE]/;

/** Whether this valid JSON text contains a number that `JSON.parse` may round, or a fraction or exponent. */
export function mayRound(text: string): boolean {
  return ROUNDED.test(text) && ROUNDED.test(withoutStrings(text));
}

/** Returns valid JSON text without its strings: first without their escapes, so that a quote ends each. */
export function withoutStrings(text: string): string {
  return text.replace(/\\./g, "").replace(/"[^"]*"/g, "");
}

/** Parses valid JSON text: every int64 is an exact `bigint`, every other number NaN. The last of equal names counts. */
export function parseExactly(text: string): unknown {
  return parse(text, null, {
    parseNumber: readInteger,
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

const MAX_DIGITS = 19;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the exact integer of a JSON number (`7`, `1.0` and `1e2` are integers), or NaN if it is none or has more digits
 * than any int64. It works on the text: nothing is rounded, and a huge exponent is never expanded.
 */
function readInteger(text: string): bigint | number {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first += 1;
  if (first === digits.length) return 0n;
  let last = digits.length - 1;
  while (digits[last] === "0") last -= 1;
  const significant = digits.slice(first, last + 1);
  const zeros = Number(exponent) - fraction.length + (digits.length - 1 - last);
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return Number.NaN;
  return BigInt(sign + significant + "0".repeat(zeros));
}
