export { checkRequirement } from "./requirement.js";
export { storageContract, storageRequirements } from "./storage-contract.js";
