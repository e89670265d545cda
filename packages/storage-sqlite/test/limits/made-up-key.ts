import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A key that was never issued, with a real key's form and the right checksum. */
export function madeUpKey(number: number): string {
  const body = hash("sha256", String(number)).slice(0, 30);
  let checksum = "";
  for (let rest = crc32(body); checksum.length < 6; rest = Math.floor(rest / 62))
    checksum = DIGITS.charAt(rest % 62) + checksum;
  return `pet_live_${body}${checksum}`;
}
