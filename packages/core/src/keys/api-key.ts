import type { RateLimits } from "../limits/plan.js";

/** One secret of an API key, as stored: never the secret itself. */
export interface ApiKeySecret {
  /** SHA-256 of the secret, in base64url. */
  readonly digest: string;
  /** The secret's first characters, by which a person recognises it. */
  readonly hint: string;
  /** From when the secret is refused, in milliseconds since the Unix epoch; `undefined`: never. */
  readonly expiresAt: number | undefined;
}

/** An API key as stored: one identity with one quota, and one secret or, after a rotation, several. */
export interface StoredApiKey {
  /** Sorts by time of issue. */
  readonly id: string;
  /** The name of a plan. */
  readonly plan: string;
  /** The limits at the time of issue or of the last plan change; they bind when the plan is custom. */
  readonly limits: RateLimits;
  readonly label: string | undefined;
  /** When the key was issued, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** From when the key is refused, in milliseconds since the Unix epoch; `undefined`: never. */
  readonly expiresAt: number | undefined;
  /** When the key was revoked, in milliseconds since the Unix epoch; `undefined`: it is not. */
  readonly revokedAt: number | undefined;
  /** Newest first; at least one. */
  readonly secrets: readonly ApiKeySecret[];
}
