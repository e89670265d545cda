import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A key that was never issued, with a real key's form. The checksum is right if the number is even. */
export function madeUpKey(number: number): string {
  const random = createHash("sha256").update(String(number)).digest();
  const body = Array.from(random.subarray(0, 30), (byte) => DIGITS.charAt(byte % 62)).join("");
  let checksum = "";
  let rest = (number % 2 === 0 ? crc32(body) : crc32(body) ^ 1) >>> 0;
  for (; checksum.length < 6; rest = Math.floor(rest / 62)) {
    checksum = DIGITS.charAt(rest % 62) + checksum;
  }
  return `pet_live_${body}${checksum}`;
}
