import type { RandomSource } from "../random.js";

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

/** This many base62 characters, each equally likely. */
export function randomBase62(random: RandomSource, length: number): string {
  const digits: string[] = [];
  while (digits.length < length) {
    for (const byte of random(length - digits.length)) {
      if (byte < UNBIASED) digits.push(DIGITS.charAt(byte % BASE));
    }
  }
  return digits.join("");
}
