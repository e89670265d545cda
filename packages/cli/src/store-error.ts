/** An error of the store; one of its storage brings what that reported. */
export interface StoreError {
  readonly message: string;
  readonly cause?: unknown;
}

/** What went wrong, for the operator: the storage's own words where it was the storage. */
export function describeStoreError({ message, cause }: StoreError): string {
  return hasMessage(cause) ? cause.message : message;
}

function hasMessage(cause: unknown): cause is { readonly message: string } {
  return (
    typeof cause === "object" &&
    cause !== null &&
    "message" in cause &&
    typeof cause.message === "string"
  );
}
