/** An error of the store. Its cause is the storage's own error if the storage failed. */
export interface StoreError {
  readonly message: string;
  readonly cause?: unknown;
}

/** Describes an error of the store for the operator: with the storage's message, if it has one. */
export function describeStoreError({ message, cause }: StoreError): string {
  return hasMessage(cause) ? cause.message : message;
}

/** Describes an unexpected error, with its stack if it has one. */
export function describeUnknownError(error: unknown): string {
  if (error instanceof Error) return error.stack ?? error.message;
  return hasMessage(error) ? error.message : String(error);
}

/** Describes an error of a file in a few words. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  return FILE_ERRORS.find(([known]) => known === code)?.[1] ?? error.message;
}

const FILE_ERRORS = [
  ["ENOENT", "it does not exist"],
  ["EEXIST", "it already exists"],
  ["EISDIR", "it is a directory"],
  ["ENOTDIR", "its directory is a file"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the disk is read-only"],
  ["ENAMETOOLONG", "its name is too long"],
  ["ENOSPC", "the disk is full"],
  ["EPIPE", "the reader has closed the pipe"],
  ["ABORT_ERR", "it received a signal to stop"],
] as const;

/** Whether a value has a message, as an error does. */
export function hasMessage(error: unknown): error is { readonly message: string } {
  return (
    typeof error === "object" &&
    error !== null &&
    "message" in error &&
    typeof error.message === "string"
  );
}
