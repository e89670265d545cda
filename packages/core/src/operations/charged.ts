import { err, ok, type Result } from "neverthrow";
import type { WithQuota } from "../errors.js";
import type { Quota } from "../limits/quota.js";
import type { Charged } from "../pet-store.js";

/** What an operation answered, with what is left to the caller. */
export function charged<T extends object, E extends object>(
  operation: Promise<Result<T, E>>,
  quota: Quota,
): Promise<Result<T & Charged, WithQuota<E>>> {
  // One `then` instead of an `async` function: every request goes through here.
  return operation.then((result) =>
    result.isOk() ? ok({ ...result.value, quota }) : err({ ...result.error, quota }),
  );
}
