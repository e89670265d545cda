import { codeOf } from "@petstore/core/facts";

/** An error of the store. Its cause is the storage's own error if the storage failed. */
export type StoreError = Pick<Error, "message" | "cause">;

/** Returns the message of the storage, if it has one, which says more than the store's. */
export function describeStoreError({ message, cause }: StoreError): string {
  return hasMessage(cause) ? cause.message : message;
}

export function describeUnknownError(error: unknown): string {
  if (error instanceof Error) return error.stack ?? error.message;
  return hasMessage(error) ? error.message : String(error);
}

/** Returns the reason of a failed call on a file, without the path: `it does not exist`. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return FILE_ERRORS.get(codeOf(error)) ?? error.message;
}

const FILE_ERRORS: ReadonlyMap<string, string> = new Map([
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
]);

function hasMessage(error: unknown): error is { readonly message: string } {
  return error instanceof Object && "message" in error && typeof error.message === "string";
}
