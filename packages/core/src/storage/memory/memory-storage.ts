import { ok } from "neverthrow";
import type { Storage } from "../storage.js";
import { createMemoryKeys } from "./memory-keys.js";
import { createMemoryPets } from "./memory-pets.js";
import { createRun } from "./memory-run.js";

/** A storage in this process's memory: for tests, and for hosts that need to keep nothing. */
export function createMemoryStorage(): Storage {
  let open = true;
  const run = createRun(() => open);
  return {
    pets: createMemoryPets(run),
    ...createMemoryKeys(run),
    close: () => {
      open = false;
      return Promise.resolve(ok());
    },
  };
}
