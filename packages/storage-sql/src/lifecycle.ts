import {
  storageError,
  type Storage,
  type StorageError,
  type StorageWarning,
} from "@petstore/core/storage";
import { err, ok, type Result } from "neverthrow";

/** The warnings of a storage to its operator. */
export interface Warnings {
  /** Passes every later warning to the listener. */
  readonly onWarning: (listener: (warning: StorageWarning) => void) => void;
  readonly warn: (warning: StorageWarning) => void;
}

/** Creates the warnings of a storage that has no listener yet. */
export function createWarnings(): Warnings {
  const listeners: ((warning: StorageWarning) => void)[] = [];
  return {
    onWarning: (listener) => void listeners.push(listener),
    warn: (warning) => listeners.forEach((listener) => listener(warning)),
  };
}

/** How a storage ends. */
export interface Ending {
  /** Refuses new calls. Resolves when the earlier ones are settled. */
  readonly settle: () => Promise<unknown>;
  /** Closes the database. */
  readonly close: () => Promise<void>;
  /** Returns the failure of the call with this name. */
  readonly toFailure: (name: string, error: unknown) => StorageError;
}

/** Creates the `close` of a storage. Closing again returns the first result. */
export function createClose(ending: Ending): Storage["close"] {
  let closing: Promise<Result<void, StorageError>> | undefined;
  return () => (closing ??= end(ending));
}

async function end({ settle, close, toFailure }: Ending): Promise<Result<void, StorageError>> {
  await settle();
  try {
    await close();
    return ok();
  } catch (error) {
    return err(toFailure("Closing the database", error));
  }
}

/** Returns the failure of the call with this name after the storage was closed. */
export function storageClosed(name: string): StorageError {
  return storageError(`${name} failed: the storage is closed.`);
}
