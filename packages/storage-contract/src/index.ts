export type { StorageModule } from "./processes.js";
export {
  checkRequirement,
  type OpenStorage,
  type Fixture,
  type StorageFeature,
  type StorageRequirement,
} from "./requirement.js";
export {
  storageContract,
  storageRequirements,
  type StorageUnderTest,
  type TestRunner,
} from "./storage-contract.js";
