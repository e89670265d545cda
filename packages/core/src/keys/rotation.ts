import type { ApiKeySecret, StoredApiKey } from "./api-key.js";
import { hasExpired } from "./credential.js";

/**
 * The key with a new secret. Those before it are accepted until `oldUntil` (milliseconds since the
 * Unix epoch), or until their own earlier expiry; those no longer accepted are dropped.
 */
export function rotated(
  key: StoredApiKey,
  secret: ApiKeySecret,
  oldUntil: number,
  now: number,
): StoredApiKey {
  const old = key.secrets
    .map((each) => ({ ...each, expiresAt: Math.min(each.expiresAt ?? oldUntil, oldUntil) }))
    .filter((each) => !hasExpired(each.expiresAt, now));
  return { ...key, secrets: [secret, ...old] };
}
