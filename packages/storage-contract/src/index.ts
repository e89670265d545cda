export { checkPromise } from "./check-promise.js";
export { storageContract, type TestRunner } from "./storage-contract.js";
export type { OpenStorage, StoragePromise } from "./storage-promise.js";
export { storagePromises } from "./storage-promises.js";
export type { Place, StorageAbility, StorageUnderTest } from "./storage-under-test.js";
