export {
  checkRequirement,
  type OpenStorage,
  type Place,
  type StorageFeature,
  type StorageRequirement,
} from "./requirement.js";
export {
  storageContract,
  storageRequirements,
  type StorageUnderTest,
  type TestRunner,
} from "./storage-contract.js";
