import { systemRandom, type RandomSource } from "../random.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;
/** The largest multiple of 62 that a byte reaches; bytes from here on would favour some digits. */
const UNBIASED = 248;

/** Writes a non-negative safe integer in base 62, padded to this many characters. */
export function toBase62(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / BASE)) {
    text = DIGITS.charAt(rest % BASE) + text;
  }
  return text;
}

/** How often a source is asked: one whose bytes are random needs more once in 10^20 times. */
const MOST_DRAWS = 16;

/** This many base62 characters, each equally likely: the system's, where the source gives too few. */
export function randomBase62(random: RandomSource, length: number): string {
  const digits: string[] = [];
  for (let draw = 1; digits.length < length; draw += 1) {
    const source = draw > MOST_DRAWS ? systemRandom : random;
    for (const byte of source(length - digits.length)) {
      if (byte < UNBIASED) digits.push(DIGITS.charAt(byte % BASE));
    }
  }
  return digits.join("");
}
