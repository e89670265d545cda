import type { ResultAsync } from "neverthrow";
import type { KeyError } from "../errors.js";
import type { RateLimits } from "../limits/plan.js";
import type { WindowQuotas } from "../limits/window.js";
import type { ApiKeySecret, StoredApiKey } from "./stored-key.js";

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
  /** The quotas of the key in both windows. */
  readonly usage: WindowQuotas;
}

/** A key that was just issued or rotated. */
export interface IssuedKey {
  /** The bearer token for the client. It cannot be read again: only its digest is stored. */
  readonly secret: string;
  readonly key: ApiKey;
}

/** A plan, and the key's own limits if the plan is custom. */
export interface PlanInput {
  /** A plan's name: `free`, `pro`, `business`, `enterprise` or one that the host added. */
  readonly plan: string;
  /** The key's own limits: required on a custom plan such as `enterprise`, refused on others. */
  readonly limits?: RateLimits | undefined;
}

/** A request for a new key. */
export interface IssueKeyInput extends PlanInput {
  /** A name for people to recognize the key: at most 200 characters. */
  readonly label?: string | undefined;
  /** From when the key is refused: milliseconds since the Unix epoch, or a Date; in the future. */
  readonly expiresAt?: number | Date | undefined;
}

/** How to rotate a key. */
export interface RotateKeyOptions {
  /** How long the old secret stays accepted, from 0 (the default) to 31,536,000 (a year). */
  readonly overlapSeconds?: number | undefined;
}

/** Which keys to purge. */
export interface PurgeKeysOptions {
  /** How long ago a key must have ended: an integer from 0 to 3,153,600,000 (100 years). */
  readonly olderThanSeconds: number;
}

/** How many keys were purged. */
export interface PurgedKeys {
  readonly purged: number;
}

/** Which keys to list. */
export interface ListKeysInput {
  /** The size of the page: an integer from 1 to 1,000; 100 by default. */
  readonly limit?: number | undefined;
  /** Only keys after this id: the `next` of the previous page. */
  readonly after?: string | undefined;
  /** Only keys that are banned now. */
  readonly banned?: boolean | undefined;
}

/** One page of keys, in the order of issue. A short page of banned keys may still have a `next`. */
export interface KeyPage {
  readonly keys: readonly ApiKey[];
  /** The id to pass as `after` for the next page; `undefined` on the last page. */
  readonly next: string | undefined;
}

/** Issues and manages API keys. For the host; its calls need no API key. */
export interface KeyRing {
  /** Issues a key. */
  issue(input: IssueKeyInput): ResultAsync<IssuedKey, KeyError>;
  /** Finds the key with this id, without charging it. */
  find(id: string): ResultAsync<ApiKey, KeyError>;
  /**
   * Finds the key that has this secret, without charging it. Revoked and expired keys, and secrets that were
   * replaced, are found as long as they are stored.
   */
  findBySecret(secret: string): ResultAsync<ApiKey, KeyError>;
  /** Lists keys in the order of issue, revoked and expired ones included. */
  list(input?: ListKeysInput): ResultAsync<KeyPage, KeyError>;
  /** Refuses the key permanently, in every process. Revoking it again changes nothing. */
  revoke(id: string): ResultAsync<ApiKey, KeyError>;
  /**
   * Gives the key a new secret. The old one stays accepted for `overlapSeconds`; both share the key's
   * quota, and neither is accepted after the key's own expiry. A key has at most eight secrets: one more
   * rotation ends the oldest.
   */
  rotate(id: string, options?: RotateKeyOptions): ResultAsync<IssuedKey, KeyError>;
  /** Puts the key on another plan; its usage is kept. */
  changePlan(id: string, to: PlanInput): ResultAsync<ApiKey, KeyError>;
  /** Ends the key's ban, if there is one, and forgets earlier bans. */
  liftBan(id: string): ResultAsync<ApiKey, KeyError>;
  /**
   * Removes the keys that were revoked or expired (whichever came first) longer ago than this, with their
   * secrets and usage. Other calls run in between. It emits no event, because these keys were refused
   * before. If it fails, the keys that it has removed until then stay removed.
   */
  purge(options: PurgeKeysOptions): ResultAsync<PurgedKeys, KeyError>;
}
