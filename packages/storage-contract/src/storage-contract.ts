import {
  checkRequirement,
  type Requirements,
  type StorageFeature,
  type StorageRequirement,
  type TestedStorage,
} from "./requirement.js";
import { keyRequirements } from "./requirements/keys.js";
import { closingRequirements } from "./requirements/lifecycle.js";
import { petRequirements, reopenedPetRequirements } from "./requirements/pets.js";
import { processRequirements, sharingRequirements } from "./requirements/sharing.js";
import { usageRequirements } from "./requirements/usage.js";

/** The part of a test runner that the suite uses. Vitest, Jest, Mocha and `node:test` have it. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
}

export interface StorageUnderTest extends TestedStorage {
  /** Names the storage in the test report. */
  readonly name: string;
}

/** Every requirement of the storage port. */
export const storageRequirements: readonly StorageRequirement[] = [
  ...[petRequirements, keyRequirements, usageRequirements]
    .flatMap((port) => Object.values<Requirements>(port))
    .flatMap((requirements) => listed(requirements)),
  ...listed(closingRequirements),
  ...listed(reopenedPetRequirements, "reopening"),
  ...listed(sharingRequirements, "sharing"),
  ...listed(processRequirements, "processes"),
];

function listed(requirements: Requirements, needs?: StorageFeature): StorageRequirement[] {
  return Object.entries(requirements).map(([name, check]) => ({ name, needs, check }));
}

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
  const { name, module, unsupported } = storage;
  const noModule = module ? {} : { processes: "no module is named for other processes to import" };
  const reasons: TestedStorage["unsupported"] = { ...noModule, ...unsupported };
  describe(`storage contract: ${name}`, () => {
    for (const requirement of storageRequirements) {
      const body = () => checkRequirement(requirement, storage);
      const reason = requirement.needs && reasons[requirement.needs];
      if (reason === undefined) it(requirement.name, body);
      else it.skip(`${requirement.name} (${reason})`, body);
    }
  });
}
