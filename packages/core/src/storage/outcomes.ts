import { err, type Result } from "neverthrow";
import { mayBeStored, storageUnavailable, type StorageUnavailableError } from "../errors.js";
import type { StorageError } from "./storage.js";

type StorageCall<T> = () => Promise<Result<T, StorageError>>;

/** Reads, and returns what `resultOf` makes of it. Never rejects: a storage that breaks its contract has failed. */
export async function read<Found, T, E>(
  call: StorageCall<Found>,
  resultOf: (found: Found) => Result<T, E>,
): Promise<Result<T, E | StorageUnavailableError>> {
  try {
    const found = await call();
    return found.isErr() ? err(storageUnavailable(found.error)) : resultOf(found.value);
  } catch (cause) {
    return err(storageUnavailable(cause));
  }
}

/** Changes a storage, like `read`. If the storage breaks its contract, the change may have been stored. */
export async function change<Stored, T, E>(
  call: StorageCall<Stored>,
  resultOf: (stored: Stored) => Result<T, E>,
): Promise<Result<T, E | StorageUnavailableError>> {
  try {
    const changed = await call();
    if (changed.isOk()) return resultOf(changed.value);
    const failed = changed.error.mayBeStored === true ? mayBeStored : storageUnavailable;
    return err(failed(changed.error));
  } catch (cause) {
    return err(mayBeStored(cause));
  }
}
