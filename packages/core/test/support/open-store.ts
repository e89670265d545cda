import type { Result } from "neverthrow";
import { createManualClock, createPetStore } from "@petstore/core";
import type { IssueKeyInput, ManualClock, PetStore, PetStoreOptions } from "@petstore/core";

/** A store on a hand-moved clock. */
export interface TestStore {
  readonly store: PetStore;
  readonly clock: ManualClock;
  /** Issues a key and returns its id and secret. */
  readonly issue: (
    input?: IssueKeyInput,
  ) => Promise<{ readonly id: string; readonly secret: string }>;
}

export function openStore(options: PetStoreOptions = {}): TestStore {
  const clock = createManualClock();
  const store = createPetStore({ clock, ...options });
  return {
    store,
    clock,
    issue: async (input = { plan: "free" }) => {
      const { key, secret } = value(await store.keys.issue(input));
      return { id: key.id, secret };
    },
  };
}

/** The value of a result that must be Ok. */
export function value<T, E>(result: Result<T, E>): T {
  if (result.isOk()) return result.value;
  throw new Error(`expected Ok, got ${JSON.stringify(result.error)}`);
}

/** The error of a result that must be Err. */
export function error<T, E>(result: Result<T, E>): E {
  if (result.isErr()) return result.error;
  throw new Error("expected Err, got Ok");
}
