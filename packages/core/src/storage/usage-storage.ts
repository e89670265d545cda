import type { Result } from "neverthrow";
import type { StoredApiKey } from "../keys/api-key.js";
import type { Usage } from "../limits/usage.js";
import type { Decide } from "./step.js";
import type { StorageFailure } from "./storage-failure.js";

/** Who presented a secret, and what that key has used. */
export interface KeyHolder {
  readonly key: Pick<StoredApiKey, "id" | "plan" | "limits" | "expiresAt" | "revokedAt">;
  /** From when the presented secret is refused, in milliseconds since the Unix epoch. */
  readonly secretExpiresAt: number | undefined;
  /** `NO_USAGE` when nothing was stored yet. */
  readonly usage: Usage;
}

/** Keeps what each key has used: one record a key, shared by all its secrets. */
export interface UsageStorage {
  /**
   * Atomically finds the key that has a secret with this digest, shows it with its usage to
   * `decide`, and stores the usage that it decides on. `undefined` is shown when no key has such a
   * secret; nothing is stored then. Survives the end of the process.
   */
  charge<Answer>(
    digest: string,
    decide: Decide<KeyHolder | undefined, Usage, Answer>,
  ): Promise<Result<Answer, StorageFailure>>;
  /**
   * Atomically shows the usage of the key with this id to `decide` (`NO_USAGE` when nothing was
   * stored, `undefined` when there is no such key; nothing is stored then), and stores the usage
   * that it decides on.
   */
  update<Answer>(
    keyId: string,
    decide: Decide<Usage | undefined, Usage, Answer>,
  ): Promise<Result<Answer, StorageFailure>>;
}
