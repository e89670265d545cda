import { err, ok, type Result } from "neverthrow";
import type { WithQuota } from "../errors.js";
import type { Quota } from "../limits/quota.js";
import type { Charged } from "../pet-store.js";

/** What an operation answered, with what is left to the caller. */
export async function charged<T extends object, E extends object>(
  operation: PromiseLike<Result<T, E>>,
  quota: Quota,
): Promise<Result<T & Charged, WithQuota<E>>> {
  const result = await operation;
  return result.isOk() ? ok({ ...result.value, quota }) : err({ ...result.error, quota });
}
