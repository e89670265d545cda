import type { ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import type { KeyError } from "../errors.js";
import type { ApiKey } from "./api-key.js";
import { changePlan, endSecret, issueKey, liftBan, purgeKeys, revokeKey } from "./change-keys.js";
import { rotateKey, type IssuedKey, type PurgedKeys } from "./change-keys.js";
import type { IssueKeyInput, ListKeysInput, PlanInput, PurgeKeysOptions } from "./key-requests.js";
import type { RotateKeyOptions } from "./key-requests.js";
import { findKey, findKeyBySecret, listKeys, type KeyPage, type KeyResult } from "./read-keys.js";

/** Issues and manages API keys. For the host; its calls need no API key. */
export interface KeyRing {
  /** Issues a key on a plan. Only this result has its secret. */
  issue(input: IssueKeyInput): ResultAsync<IssuedKey, KeyError>;
  /** Finds the key with this id, without charging it. */
  find(id: string): ResultAsync<ApiKey, KeyError>;
  /** Finds the key that has this secret, also a revoked or expired key or a replaced secret, without charging it. */
  findBySecret(secret: string): ResultAsync<ApiKey, KeyError>;
  /** Lists keys in the order of issue, revoked and expired ones included. */
  list(input?: ListKeysInput): ResultAsync<KeyPage, KeyError>;
  /** Refuses the key permanently, in every process. Revoking it again changes nothing. */
  revoke(id: string): ResultAsync<ApiKey, KeyError>;
  /**
   * Gives the key a new secret. The old one stays accepted for `overlapSeconds`; both share the key's quota, and
   * neither outlives the key. A key has at most eight secrets: one more rotation ends the oldest.
   */
  rotate(id: string, options?: RotateKeyOptions): ResultAsync<IssuedKey, KeyError>;
  /**
   * Refuses the secret with this hint permanently, in every process; the others stay valid as long as before. The last valid
   * secret cannot be ended (`invalid_key_request`): rotate the key first, or revoke it.
   */
  endSecret(id: string, hint: string): ResultAsync<ApiKey, KeyError>;
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

export function createKeyRing(
  context: Context,
  run: <T>(call: () => KeyResult<T>) => ResultAsync<T, KeyError>,
): KeyRing {
  return Object.freeze({
    issue: (input) => run(() => issueKey(context, input)),
    find: (id) => run(() => findKey(context, id)),
    findBySecret: (secret) => run(() => findKeyBySecret(context, secret)),
    list: (input = {}) => run(() => listKeys(context, input)),
    revoke: (id) => run(() => revokeKey(context, id)),
    rotate: (id, options = {}) => run(() => rotateKey(context, id, options)),
    endSecret: (id, hint) => run(() => endSecret(context, id, hint)),
    changePlan: (id, to) => run(() => changePlan(context, id, to)),
    liftBan: (id) => run(() => liftBan(context, id)),
    purge: (options) => run(() => purgeKeys(context, options)),
  } satisfies KeyRing);
}
