import type { ResultAsync } from "neverthrow";
import type { KeyError } from "../errors.js";
import type { RateLimits } from "../limits/plan.js";
import type { Quota } from "../limits/quota.js";

/** An API key as its host sees it. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  /** Names the key in every call; sorts by time of issue; no secret. */
  readonly id: string;
  /** The first characters of the newest secret, by which a person recognises it. */
  readonly hint: string;
  readonly plan: string;
  /** The limits that bind now. */
  readonly limits: RateLimits;
  readonly label: string | undefined;
  readonly createdAt: number;
  /** From when the key is refused, or `undefined` when it does not expire. */
  readonly expiresAt: number | undefined;
  /** When the key was revoked, or `undefined` when it is not. */
  readonly revokedAt: number | undefined;
  /** When a request was last admitted, or `undefined` when none was. */
  readonly lastUsedAt: number | undefined;
  /** When the ban in force ends, or `undefined` when the key is not banned. */
  readonly bannedUntil: number | undefined;
  /** What the key has left. */
  readonly usage: KeyUsage;
}

/** What a key has left in both windows. */
export interface KeyUsage {
  readonly minute: Quota;
  readonly day: Quota;
}

/** A key just issued or rotated. */
export interface IssuedKey {
  /** What the client sends as its bearer token. Shown this once; only its digest is stored. */
  readonly secret: string;
  readonly key: ApiKey;
}

/** What to issue. */
export interface IssueKeyInput {
  /** A plan's name: `free`, `pro`, `business`, `enterprise` or one that the host added. */
  readonly plan: string;
  /** The key's own limits: required on a custom plan such as `enterprise`, refused on others. */
  readonly limits?: RateLimits | undefined;
  /** A name for people: at most 200 characters. */
  readonly label?: string | undefined;
  /** From when the key is refused: milliseconds since the Unix epoch, or a Date; in the future. */
  readonly expiresAt?: number | Date | undefined;
}

/** Which keys to list. */
export interface ListKeysInput {
  /** How many at most: an integer from 1 to 1,000; 100 when left out. */
  readonly limit?: number | undefined;
  /** Only keys after this id: the `next` of the page before. */
  readonly after?: string | undefined;
  /** Only keys that are banned now. */
  readonly banned?: boolean | undefined;
}

/** One page of keys, in the order of issue. A page of banned keys may be short and still have a next. */
export interface KeyPage {
  readonly keys: readonly ApiKey[];
  /** The id to pass as `after` for the next page, or `undefined` when this page is the last. */
  readonly next: string | undefined;
}

/** Issues and manages API keys: for the host, never behind an API key itself. */
export interface KeyRing {
  /** Issues a key. */
  issue(input: IssueKeyInput): ResultAsync<IssuedKey, KeyError>;
  /** The key with this id. */
  find(id: string): ResultAsync<ApiKey, KeyError>;
  /** Lists keys in the order of issue, revoked and expired ones included. */
  list(input?: ListKeysInput): ResultAsync<KeyPage, KeyError>;
  /** Refuses the key from now on, for good: at once in every process. Revoking again changes nothing. */
  revoke(id: string): ResultAsync<ApiKey, KeyError>;
  /**
   * Gives the key a new secret. The old one is accepted for `overlapSeconds` more (0 when left out)
   * and shares the key's quota; neither outlives the key's own expiry.
   */
  rotate(
    id: string,
    options?: { readonly overlapSeconds?: number | undefined },
  ): ResultAsync<IssuedKey, KeyError>;
  /** Puts the key on another plan; what it has used stays used. */
  changePlan(
    id: string,
    to: { readonly plan: string; readonly limits?: RateLimits | undefined },
  ): ResultAsync<ApiKey, KeyError>;
  /** Ends the key's ban, if there is one, and forgets those before. */
  liftBan(id: string): ResultAsync<ApiKey, KeyError>;
  /** What the key has left in both windows; costs it nothing. */
  usage(id: string): ResultAsync<KeyUsage, KeyError>;
}
