import {
  storageError,
  type Storage,
  type StorageError,
  type StorageWarning,
} from "@petstore/core/storage";
import { err, ok, type Result } from "neverthrow";
import type { CommitErrors } from "./commit/commit.js";

export interface Warnings {
  /** Passes every later warning to the listener. */
  readonly onWarning: (listener: (warning: StorageWarning) => void) => void;
  readonly warn: (warning: StorageWarning) => void;
}

export function createWarnings(): Warnings {
  const listeners: ((warning: StorageWarning) => void)[] = [];
  return {
    onWarning: (listener) => void listeners.push(listener),
    warn: (warning) => listeners.forEach((listener) => listener(warning)),
  };
}

/** Creates the `close` of a storage. Closing again returns the first result. */
export function createClose({
  settle,
  close,
  toFailure,
}: {
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  readonly settle: () => Promise<unknown>;
  readonly close: () => Promise<void>;
  readonly toFailure: CommitErrors["toFailure"];
}): Storage["close"] {
  let closing: Promise<Result<void, StorageError>> | undefined;
  const end = async (): Promise<Result<void, StorageError>> => {
    await settle();
    try {
      await close();
      return ok();
    } catch (error) {
      return err(toFailure("Closing the database", error));
    }
  };
  return () => (closing ??= end());
}

export function storageClosed(name: string): StorageError {
  return storageError(`${name} failed: the storage is closed.`);
}
