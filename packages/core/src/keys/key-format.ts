import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { err, ok, type Result } from "neverthrow";
import { invalidApiKey, missingApiKey, type KeylessError } from "../errors.js";
import type { RandomSource } from "../random.js";

const PREFIX = "pet_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const CHECKSUM_AT = PREFIX.length + RANDOM_LENGTH;
const HINT_LENGTH = PREFIX.length + 4;

const ID_PREFIX = "key_";
const ID_TIME_LENGTH = 8;
const ID_COUNT_LENGTH = 3;
const ID_RANDOM_LENGTH = 7;

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;
/** The largest multiple of 62 that fits in a byte. Bytes from this one on would favour some digits. */
const UNBIASED = 248;
/** A working random source needs more draws than this only once in 10^20 cases. */
const MAX_DRAWS = 16;

const ID_LENGTH = ID_TIME_LENGTH + ID_COUNT_LENGTH + ID_RANDOM_LENGTH;
const ID_FORM = new RegExp(`^${ID_PREFIX}[0-9A-Za-z]{${ID_LENGTH}}$`);
const HINT_FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${HINT_LENGTH - PREFIX.length}}$`);

export const isKeyId = (text: string): boolean => ID_FORM.test(text);

export const isKeyHint = (text: string): boolean => HINT_FORM.test(text);

export const isDigest = (text: string): boolean => /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text);

/** Returns a new secret: `pet_live_`, 30 random base62 characters, and their CRC-32 in 6 more. */
export function mintSecret(random: RandomSource): string {
  const body = randomBase62(random, RANDOM_LENGTH);
  return PREFIX + body + checksum(body);
}

/** The ids sort, byte by byte, by time, then in the order of the calls. Random characters keep processes apart. */
export function createKeyIds(random: RandomSource): (now: number) => string {
  let time = 0;
  let count = 0;
  return (now) => {
    count += 1;
    if (now > time || count === BASE ** ID_COUNT_LENGTH) {
      time = Math.max(now, time + 1);
      count = 0;
    }
    const order = toBase62(time, ID_TIME_LENGTH) + toBase62(count, ID_COUNT_LENGTH);
    return `${ID_PREFIX}${order}${randomBase62(random, ID_RANDOM_LENGTH)}`;
  };
}

/** Returns the digest of an API key. Form and checksum refuse a made-up one without a look-up; "" is none. */
export function parseApiKey(apiKey: string | undefined): Result<string, KeylessError> {
  if (apiKey === undefined || apiKey === "") return err(missingApiKey());
  if (typeof apiKey !== "string" || !apiKey.startsWith(PREFIX)) return err(invalidApiKey());
  const body = apiKey.slice(PREFIX.length, CHECKSUM_AT);
  return checksum(body) === apiKey.slice(CHECKSUM_AT) ? ok(digestOf(apiKey)) : err(invalidApiKey());
}

/** Returns the SHA-256 of a secret, in base64url. */
export function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

export function hintOf(secret: string): string {
  // Joined from parts, because a substring would keep the whole secret in memory.
  return [PREFIX, secret.slice(PREFIX.length, HINT_LENGTH)].join("");
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}

/** Writes a non-negative safe integer in base 62, padded with zeros to this length. */
function toBase62(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / BASE)) {
    text = DIGITS.charAt(rest % BASE) + text;
  }
  return text;
}

function randomBase62(random: RandomSource, length: number): string {
  const digits: string[] = [];
  for (let draw = 0; digits.length < length; draw += 1) {
    if (draw === MAX_DRAWS) throw new TypeError("The random source returns no random bytes.");
    for (const byte of random(length - digits.length))
      if (byte < UNBIASED) digits.push(DIGITS.charAt(byte % BASE));
  }
  return digits.join("");
}
