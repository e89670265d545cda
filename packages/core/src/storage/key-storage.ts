import type { Result } from "neverthrow";
import type { StoredApiKey } from "../keys/api-key.js";
import type { Usage } from "../limits/usage.js";
import type { Decide } from "./step.js";
import type { StorageFailure } from "./storage-failure.js";

/** A key together with what it has used; `NO_USAGE` when nothing was stored yet. */
export interface KeyWithUsage {
  readonly key: StoredApiKey;
  readonly usage: Usage;
}

/** Which keys to list. */
export interface KeyQuery {
  /** How many at most, at least 1. */
  readonly limit: number;
  /** Only keys whose id sorts after this one. */
  readonly after: string | undefined;
  /** Only keys whose usage remembers a ban, ended or not. */
  readonly banned: boolean;
}

/** Keeps the API keys. As durable as the inventory. */
export interface KeyStorage {
  /** Adds a key. Its id and digests are new. */
  insert(key: StoredApiKey): Promise<Result<void, StorageFailure>>;
  /** The key with this id, or `undefined` when there is none. */
  find(id: string): Promise<Result<KeyWithUsage | undefined, StorageFailure>>;
  /** Keys in ascending order of id, compared byte by byte. */
  list(query: KeyQuery): Promise<Result<readonly KeyWithUsage[], StorageFailure>>;
  /**
   * Atomically shows the key with this id (`undefined` when there is none; nothing is stored then) to
   * `decide`, and stores the key that it decides on: everything but the id may differ.
   */
  update<Answer>(
    id: string,
    decide: Decide<StoredApiKey | undefined, StoredApiKey, Answer>,
  ): Promise<Result<Answer, StorageFailure>>;
}
