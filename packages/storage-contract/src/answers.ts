import assert from "node:assert/strict";
import type { StorageFailure } from "@petstore/core";
import type { Result, ResultAsync } from "neverthrow";

/** The value that a storage must answer. */
export async function valueOf<T>(answer: ResultAsync<T, StorageFailure>): Promise<T> {
  const result = await answer;
  if (result.isErr()) assert.fail(`the storage failed: ${result.error.message}`);
  return result.value;
}

/** The failure that a storage must answer: as a value, neither thrown nor rejected. */
export async function failureOf<T>(
  call: () => ResultAsync<T, StorageFailure>,
): Promise<StorageFailure> {
  const result = await settled(call);
  assert.ok(result.isErr(), `the storage answered Ok to ${String(call)}`);
  assert.equal(typeof result.error.message, "string");
  return result.error;
}

async function settled<T>(
  call: () => ResultAsync<T, StorageFailure>,
): Promise<Result<T, StorageFailure>> {
  try {
    return await call();
  } catch (error) {
    assert.fail(`the storage threw or rejected: ${String(error)}`);
  }
}
