import type { Quota } from "./quota.js";

/** The fields that every result and error of a caller with an API key has. */
export type Charged = {
  /** The quota after this request. */
  readonly quota: Quota;
  /** The id of the request's API key; `undefined` if the request was not admitted, and in a remote client. */
  readonly keyId?: string | undefined;
  /** The plan of the request's API key; `undefined` if the key was not valid, and in a remote client. */
  readonly plan?: string | undefined;
};

/** The key that a request was charged to, and its quota afterwards. */
export interface ChargedKey extends Charged {
  readonly keyId: string;
  readonly plan: string;
}

/** Returns a copy with the quota and the plan. In Node 20, a spread takes several times as long as `Object.assign`. */
export function withQuota<T extends object>(value: T, quota: Quota, plan?: string): T & Charged {
  return Object.assign(plan === undefined ? { quota } : { quota, plan }, value);
}

/** Returns a copy with the quota, the key and its plan. */
export function withCharge<T extends object>(
  value: T,
  { quota, keyId, plan }: ChargedKey,
): T & ChargedKey {
  return Object.assign({ quota, keyId, plan }, value);
}
