import { storageFailure, type Decide, type Step, type StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";

/** Asks a decision; one that throws fails the call that brought it and nothing else. */
export function ask<Shown, State, Answer>(
  decide: Decide<Shown, State, Answer>,
  shown: Shown,
): Result<Step<State, Answer>, StorageFailure> {
  try {
    return ok(decide(shown));
  } catch (cause) {
    return err(storageFailure("The decision threw; nothing was stored.", cause));
  }
}
