/** Why a storage could not do what it was asked. */
export interface StorageFailure {
  /** For the host's log: what was tried, never a secret. */
  readonly message: string;
  /** The underlying error, if any. */
  readonly cause: unknown;
}

/** A storage failure with its underlying cause. */
export function storageFailure(message: string, cause?: unknown): StorageFailure {
  return { message, cause };
}
