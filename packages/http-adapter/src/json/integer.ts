/** int64 has at most 19 digits. */
const MAX_DIGITS = 19;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The exact integer that a JSON number spells (`7`, `1.0` and `1e2` are integers), or NaN when it is
 * none, or has more digits than any int64. Works on the text alone: nothing is rounded, and a huge
 * exponent is never written out.
 */
export function readInteger(text: string): bigint | number {
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
