import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The attacker's keys, all different: of the real form, every other one with the right checksum. */
export function madeUpKey(number: number): string {
  const body = base62(number, 30);
  const checksum = crc32(body);
  return `pet_live_${body}${base62(number % 2 === 0 ? checksum : checksum ^ 1, 6)}`;
}

function base62(value: number, length: number): string {
  let text = "";
  for (let rest = value >>> 0; text.length < length; rest = Math.floor(rest / 62)) {
    text = DIGITS.charAt(rest % 62) + text;
  }
  return text;
}
