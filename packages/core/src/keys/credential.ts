import type { KeyHolder } from "../storage/usage-storage.js";
import { digestOfWellFormed } from "./secret.js";

/** What a caller presented to prove who it is. */
export type Credential =
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" }
  | { readonly kind: "secret"; readonly digest: string };

const MISSING: Credential = { kind: "missing" };
const MALFORMED: Credential = { kind: "malformed" };

/** Reads what a caller presented; nothing, or the empty string, is a missing credential. */
export function readCredential(apiKey: string | undefined): Credential {
  if (apiKey === undefined || apiKey === "") return MISSING;
  const digest = typeof apiKey === "string" ? digestOfWellFormed(apiKey) : undefined;
  return digest === undefined ? MALFORMED : { kind: "secret", digest };
}

/** Whether the key, and the secret presented for it, are accepted at this time. */
export function isAccepted({ key, secretExpiresAt }: KeyHolder, now: number): boolean {
  return (
    key.revokedAt === undefined &&
    !hasExpired(key.expiresAt, now) &&
    !hasExpired(secretExpiresAt, now)
  );
}

/** Whether something that expires at this time, or never, has expired. */
export function hasExpired(expiresAt: number | undefined, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}
