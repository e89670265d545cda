import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A key that was never issued, with the form and the checksum of a real one: anybody can make it. */
export function madeUpKey(): string {
  const body = [...randomBytes(30)].map((byte) => DIGITS.charAt(byte % 62)).join("");
  let checksum = "";
  for (let rest = crc32(body); checksum.length < 6; rest = Math.floor(rest / 62)) {
    checksum = DIGITS.charAt(rest % 62) + checksum;
  }
  return `pet_live_${body}${checksum}`;
}
