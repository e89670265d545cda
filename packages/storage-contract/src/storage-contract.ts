import { creationRequirements } from "./creations.js";
import { importRequirements } from "./import.js";
import { keyRequirements } from "./keys.js";
import { lifecycleRequirements } from "./lifecycle.js";
import { petRequirements } from "./pets.js";
import type { StorageModule } from "./processes.js";
import {
  checkRequirement,
  type Fixture,
  type StorageFeature,
  type StorageRequirement,
} from "./requirement.js";
import { processRequirements } from "./several-processes.js";
import { usageRequirements } from "./usage.js";

/** The part of a test runner that the suite uses. Vitest, Jest, Mocha and `node:test` have it. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
}

/** The storage to test. */
export interface StorageUnderTest {
  /** Names the storage in the test report. */
  readonly name: string;
  /** Creates a new, empty fixture. Called once for each requirement. */
  createFixture(): Promise<Fixture>;
  /** Opens the storage in other processes. Without it, requirements on several processes are skipped. */
  readonly module?: StorageModule;
  /** The features that this storage does not support, each with the reason. */
  readonly unsupported?: Readonly<Partial<Record<StorageFeature, string>>>;
}

/** Every requirement of the storage port. */
export const storageRequirements: readonly StorageRequirement[] = [
  ...petRequirements,
  ...creationRequirements,
  ...keyRequirements,
  ...importRequirements,
  ...usageRequirements,
  ...lifecycleRequirements,
  ...processRequirements,
];

/**
 * Declares one test for each requirement of the storage port. A requirement that needs an unsupported
 * feature is declared as skipped, with the reason in its name.
 * @example
 * import { describe, it } from "node:test";
 * storageContract({ describe, it }, {
 *   name: "memory",
 *   createFixture: async () => ({ open: async () => createMemoryStorage(), remove: async () => {} }),
 *   unsupported: { reopening: "memory is lost on close", sharing: "memory is private" },
 * });
 */
export function storageContract(runner: TestRunner, storage: StorageUnderTest): void {
  const { describe, it } = runner;
  describe(`storage contract: ${storage.name}`, () => {
    for (const requirement of storageRequirements) {
      const body = () => checkRequirement(requirement, storage);
      const reason = reasonToSkip(requirement, storage);
      if (reason === undefined) it(requirement.name, body);
      else it.skip(`${requirement.name} (${reason})`, body);
    }
  });
}

function reasonToSkip(
  { needs }: StorageRequirement,
  { module, unsupported }: StorageUnderTest,
): string | undefined {
  const isMissing = needs === "processes" && module === undefined;
  const missing = isMissing ? "no module is named for other processes to import" : undefined;
  return (needs && unsupported?.[needs]) ?? missing;
}
