import { err, errAsync, ok, type Result, type ResultAsync } from "neverthrow";
import {
  keyNotFound,
  storageUnavailable,
  type KeyInactive,
  type KeyNotFound,
  type StorageUnavailable,
} from "../errors.js";
import { NO_USAGE } from "../limits/usage.js";
import type { KeyQuery, KeyWithUsage } from "../storage/key-storage.js";
import type { GuardedStorage } from "../storage/guard-storage.js";
import type { StoredApiKey } from "./api-key.js";

/** What can go wrong with one key. */
type Trouble = KeyNotFound | StorageUnavailable;

/** The keys in a storage, with the errors that a host is told. */
export interface KeyRecords {
  insert(key: StoredApiKey): ResultAsync<KeyWithUsage, StorageUnavailable>;
  find(id: string): ResultAsync<KeyWithUsage, Trouble>;
  page(query: KeyQuery): ResultAsync<readonly KeyWithUsage[], StorageUnavailable>;
  /** Changes a key as decided. The change comes last: no failure after it can hide that it was made. */
  change(
    id: string,
    decide: (key: StoredApiKey) => Result<StoredApiKey, KeyInactive>,
  ): ResultAsync<KeyWithUsage, Trouble | KeyInactive>;
  /** Forgets a key's bans and refusals. */
  forgetBans(
    id: string,
  ): ResultAsync<{ readonly before: KeyWithUsage; readonly after: KeyWithUsage }, Trouble>;
}

/** The keys in this storage. */
export function createKeyRecords({
  keys,
  usage,
}: Pick<GuardedStorage, "keys" | "usage">): KeyRecords {
  const find = (id: string): ResultAsync<KeyWithUsage, Trouble> => {
    if (typeof id !== "string") return errAsync(keyNotFound());
    return keys
      .find(id)
      .mapErr(storageUnavailable)
      .andThen((found) => (found === undefined ? err(keyNotFound()) : ok(found)));
  };

  return {
    insert: (key) =>
      keys
        .insert(key)
        .mapErr(storageUnavailable)
        .map(() => ({ key, usage: NO_USAGE })),
    find,
    page: (query) => keys.list(query).mapErr(storageUnavailable),
    change: (id, decide) =>
      find(id).andThen((found) =>
        keys
          .update<Result<StoredApiKey, KeyNotFound | KeyInactive>>(id, (key) => {
            if (key === undefined) return { result: err(keyNotFound()) };
            const decided = decide(key);
            return { next: decided.unwrapOr(undefined), result: decided };
          })
          .mapErr(storageUnavailable)
          .andThen((changed) => changed)
          .map((key) => ({ key, usage: found.usage })),
      ),
    forgetBans: (id) =>
      find(id).andThen(({ key }) =>
        usage
          .update(id, (used = NO_USAGE) => {
            const isClean = used.bans === 0 && used.refusals === 0;
            const next = isClean ? used : { ...used, bans: 0, bannedAt: 0, refusals: 0 };
            return { next, result: { before: { key, usage: used }, after: { key, usage: next } } };
          })
          .mapErr(storageUnavailable),
      ),
  };
}
