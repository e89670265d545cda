import type { WindowQuotas } from "../limits/quota.js";
import { windowNames, type RateLimits, type WindowName } from "../limits/windows.js";
import { digestOf, hintOf } from "./key-format.js";

/** One secret of an API key, as stored: never the secret itself. */
export interface ApiKeySecret {
  /** SHA-256 of the secret, in base64url. */
  readonly digest: string;
  /** The first characters of the secret, for people to recognize it. */
  readonly hint: string;
  /** From when the secret is refused, in milliseconds since the Unix epoch; `undefined`: never. */
  readonly expiresAt: number | undefined;
}

/** An API key as stored: one identity with one quota and, after a rotation, several secrets. */
export interface StoredApiKey {
  /** Identifies the key in every call; sorts by time of issue; not a secret. */
  readonly id: string;
  readonly plan: string;
  /** The limits at the time of issue or of the last plan change. They apply if the plan is custom. */
  readonly limits: RateLimits;
  readonly label: string | undefined;
  /** When the key was issued, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** From when the key is refused, in milliseconds since the Unix epoch; `undefined`: never. */
  readonly expiresAt: number | undefined;
  /** When the key was revoked, in milliseconds since the Unix epoch; `undefined`: not revoked. */
  readonly revokedAt: number | undefined;
  /** Newest first; at least one. */
  readonly secrets: readonly ApiKeySecret[];
}

/** An API key as its host sees it. Times are milliseconds since the Unix epoch. */
export interface ApiKey extends Omit<StoredApiKey, "limits" | "secrets"> {
  /** The first characters of the newest secret, for people to recognize it. */
  readonly hint: string;
  /** The secrets, newest first; the older ones were replaced by a rotation. */
  readonly secrets: readonly Omit<ApiKeySecret, "digest">[];
  /** The limits in force. */
  readonly limits: RateLimits;
  /** When a request was last admitted; `undefined` if none has been. */
  readonly lastUsedAt: number | undefined;
  /** When the ban in force ends; `undefined` if the key is not banned. */
  readonly bannedUntil: number | undefined;
  /** The quotas of the key in each window that its plan limits. */
  readonly usage: WindowQuotas;
}

/** What an API key and its secrets are at a time. All times are milliseconds since the Unix epoch. */
export interface KeyState {
  /** If several apply, the key is revoked rather than expired, and expired rather than banned. */
  readonly name: "active" | "banned" | "expired" | "revoked";
  /** Until when the key is banned, or since when it is expired or revoked; `undefined`: it is active. */
  readonly at: number | undefined;
  /** Newest first. */
  readonly secrets: readonly SecretState[];
}

export interface SecretState {
  readonly hint: string;
  /** `replaced`: by a rotation, but still accepted. A ban refuses requests with each secret that is not `refused`. */
  readonly name: "current" | "replaced" | "refused";
  /** Until when it is accepted, or since when it is refused; `undefined`: accepted until the key is revoked. */
  readonly at: number | undefined;
}

/** Returns what a key and its secrets are at this time, in milliseconds since the Unix epoch. */
export function keyStateAt(key: ApiKey, now: number): KeyState {
  const isOver = hasEnded(key, now);
  const end = endOf(key);
  const secrets = key.secrets.map(({ hint, expiresAt }): SecretState => {
    const isRefused = isOver || hasExpired(expiresAt, now);
    const accepted = expiresAt === undefined ? "current" : "replaced";
    const until = Math.min(expiresAt ?? Infinity, end);
    const at = until === Infinity ? undefined : until;
    return { hint, name: isRefused ? "refused" : accepted, at };
  });
  const { revokedAt, expiresAt, bannedUntil } = key;
  if (revokedAt !== undefined) return { name: "revoked", at: revokedAt, secrets };
  if (isOver) return { name: "expired", at: expiresAt, secrets };
  return bannedUntil === undefined || hasExpired(bannedUntil, now)
    ? { name: "active", at: undefined, secrets }
    : { name: "banned", at: bannedUntil, secrets };
}

export function storedSecret(secret: string): ApiKeySecret {
  return { digest: digestOf(secret), hint: hintOf(secret), expiresAt: undefined };
}

/** Bounded, because each change of a key writes all its secrets. */
const MAX_SECRETS = 8;

/** Older secrets expire at `oldUntil` at the latest. Expired ones are removed, and so are the oldest beyond eight. */
export function rotatedKey(
  key: StoredApiKey,
  secret: ApiKeySecret,
  oldUntil: number,
  now: number,
): StoredApiKey {
  const old = key.secrets
    .map((each) => ({ ...each, expiresAt: Math.min(each.expiresAt ?? oldUntil, oldUntil) }))
    .filter((each) => !hasExpired(each.expiresAt, now));
  return { ...key, secrets: [secret, ...old].slice(0, MAX_SECRETS) };
}

/** Removes the secrets with this hint, so that no clock accepts them again; `undefined` if no other is valid now. */
export function keyWithout(key: StoredApiKey, hint: string, now: number): StoredApiKey | undefined {
  const secrets = key.secrets.filter((each) => each.hint !== hint);
  const isValid = secrets.some(({ expiresAt }) => !hasExpired(expiresAt, now));
  return isValid ? { ...key, secrets } : undefined;
}

type Ends = Pick<StoredApiKey, "revokedAt" | "expiresAt">;

/** Whether the key is refused for good at this time: revoked, by whatever clock, or expired. */
export function hasEnded({ revokedAt, expiresAt }: Ends, now: number): boolean {
  return revokedAt !== undefined || hasExpired(expiresAt, now);
}

/** Returns when the key was revoked or expires, whichever comes first; `Infinity`: never. */
export function endOf({ revokedAt, expiresAt }: Ends): number {
  return Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity);
}

/** Whether this time of expiry (`undefined`: never) has been reached. */
export function hasExpired(expiresAt: number | undefined, now: number): boolean {
  return now >= (expiresAt ?? Infinity);
}

/** Compares keys by the requests of each current window, the shortest first, then by the last request: most first. */
export function byUse(one: ApiKey, other: ApiKey): number {
  for (const name of windowNames) {
    const difference = usedIn(other.usage, name) - usedIn(one.usage, name);
    if (difference !== 0) return difference;
  }
  return (other.lastUsedAt ?? 0) - (one.lastUsedAt ?? 0);
}

function usedIn(usage: Partial<WindowQuotas>, name: WindowName): number {
  const quota = usage[name];
  return quota === undefined ? 0 : quota.limit - quota.remaining;
}
