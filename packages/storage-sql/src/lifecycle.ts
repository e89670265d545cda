import { storageError } from "@petstore/core/storage";
import type { Storage, StorageError, StorageWarning } from "@petstore/core/storage";
import { ResultAsync, type Result } from "neverthrow";
import type { CommitErrors } from "./commit/commit.js";

export function createWarnings() {
  const listeners: ((warning: StorageWarning) => void)[] = [];
  return {
    onWarning: (listener: (warning: StorageWarning) => void): void => void listeners.push(listener),
    warn: (warning: StorageWarning): void => listeners.forEach((listener) => listener(warning)),
  };
}

/** Thrown when a database cannot be opened, backed up or restored, for a reason that has a code. */
export class ErrorWithCode<Code extends string> extends Error {
  constructor(
    readonly code: Code,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Creates the `close` of a storage. Closing again returns the first result. */
export function createClose(storage: {
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  readonly settle: () => Promise<unknown>;
  readonly close: () => Promise<void>;
  readonly toFailure: CommitErrors["toFailure"];
}): Storage["close"] {
  let closing: Promise<Result<void, StorageError>> | undefined;
  const close = ResultAsync.fromThrowable(storage.close, (error) =>
    storage.toFailure("Closing the database", error),
  );
  const end = async (): Promise<Result<void, StorageError>> => {
    await storage.settle();
    return close();
  };
  return () => (closing ??= end());
}

export function storageClosed(name: string): StorageError {
  return storageError(`${name} failed: the storage is closed.`);
}
