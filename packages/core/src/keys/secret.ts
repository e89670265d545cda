import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { RandomSource } from "../random.js";
import type { ApiKeySecret } from "./api-key.js";
import { randomBase62, toBase62 } from "./base62.js";

const PREFIX = "pet_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const CHECKSUM_AT = PREFIX.length + RANDOM_LENGTH;
const LENGTH = CHECKSUM_AT + CHECKSUM_LENGTH;
const HINTED_LENGTH = 4;

/** A fresh secret: `pet_live_`, 30 random base62 characters, and their CRC-32 in 6 more. */
export function mintSecret(random: RandomSource): string {
  const body = randomBase62(random, RANDOM_LENGTH);
  return PREFIX + body + checksum(body);
}

/**
 * The digest to look a presented secret up by, or `undefined` when its form or checksum shows that it
 * was never issued: a mistyped or made-up key costs no look-up.
 */
export function digestOfWellFormed(secret: string): string | undefined {
  if (secret.length !== LENGTH || !secret.startsWith(PREFIX)) return undefined;
  const body = secret.slice(PREFIX.length, CHECKSUM_AT);
  return checksum(body) === secret.slice(CHECKSUM_AT) ? digestOf(secret) : undefined;
}

/** What is stored of a new secret. */
export function recordOf(secret: string): ApiKeySecret {
  return { digest: digestOf(secret), hint: hintOf(secret), expiresAt: undefined };
}

/** What is kept in the place of a text that must not be kept itself: its SHA-256. */
export function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

/** Joined anew: cut from the secret, it would keep the whole of it in memory. */
function hintOf(secret: string): string {
  return [PREFIX, secret.slice(PREFIX.length, PREFIX.length + HINTED_LENGTH)].join("");
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}
