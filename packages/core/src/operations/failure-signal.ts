import type { StorageUnavailable } from "../errors.js";
import { signalChannel } from "../signals.js";

/** Creates the function that publishes the error of a call, if its storage has failed. */
export function createFailureSignal(): (error: unknown) => void {
  const failures = signalChannel("petstore:storage-failure");
  return (error) => {
    if (!failures.hasSubscribers || !isStorageUnavailable(error)) return;
    failures.publish({ code: codeOf(error.cause) });
  };
}

function isStorageUnavailable(error: unknown): error is StorageUnavailable {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "storage_unavailable"
  );
}

/** Returns the code of the driver or the system, which is a word: `SQLITE_FULL`. */
function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== "object" || cause === null) return undefined;
  if ("code" in cause && typeof cause.code === "string" && /^\w{1,64}$/.test(cause.code)) {
    return cause.code;
  }
  return "cause" in cause ? codeOf(cause.cause) : undefined;
}
