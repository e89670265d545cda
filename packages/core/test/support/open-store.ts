import type { Result } from "neverthrow";
import { createManualClock, createPetStore } from "@petstore/core";
import type { Caller, IssueKeyInput, ManualClock, PetStore, PetStoreOptions } from "@petstore/core";

/** A store on a manual clock. */
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

/** Sends requests, one after the other, and returns how many are admitted. */
export async function admitted(caller: Caller, requests = 10): Promise<number> {
  let count = 0;
  for (let request = 0; request < requests; request += 1) {
    if ((await caller.admit()).isOk()) count += 1;
  }
  return count;
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
