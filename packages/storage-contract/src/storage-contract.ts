import { checkPromise } from "./check-promise.js";
import { storagePromises } from "./storage-promises.js";
import type { StorageUnderTest } from "./storage-under-test.js";

/** The part of a test runner that the suite needs: Vitest, Jest, Mocha and `node:test` have it. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
}

/**
 * Declares one test for each promise of the storage port. A promise that the storage does not make is
 * declared as skipped, with the reason in its name.
 * @example
 * import { describe, it } from "node:test";
 * storageContract({ describe, it }, {
 *   name: "memory",
 *   createPlace: async () => ({ open: async () => createMemoryStorage(), remove: async () => {} }),
 *   withoutPromise: { reopening: "memory is forgotten", sharing: "memory is private" },
 * });
 */
export function storageContract(runner: TestRunner, storage: StorageUnderTest): void {
  const { describe, it } = runner;
  describe(`the storage contract, kept by ${storage.name}`, () => {
    for (const promise of storagePromises) {
      const body = () => checkPromise(promise, storage);
      const reason = promise.needs && storage.withoutPromise?.[promise.needs];
      if (reason === undefined) it(promise.name, body);
      else it.skip(`${promise.name} (${reason})`, body);
    }
  });
}
