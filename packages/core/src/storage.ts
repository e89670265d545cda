// What a storage of one's own needs beside the root. `@petstore/storage-contract` tests it.
export type { ApiKeySecret, StoredApiKey } from "./keys/api-key.js";
export { NO_USAGE, type Usage } from "./limits/usage.js";
export { INT64_MAX } from "./pets/int64.js";
export { PAGE_BYTES, pageOf, type PetQuery } from "./pets/list-query.js";
export { missingPets, type ImportedPets, type NewPet } from "./pets/pet.js";
export {
  storageError,
  type Creation,
  type CreationRequest,
  type Decide,
  type Decided,
  type KeyQuery,
  type KeyStorage,
  type KeyWithUsage,
  type PetStorage,
  type PresentedKey,
  type Storage,
  type StorageError,
  type StorageWarning,
  type UsageStorage,
} from "./storage/storage.js";
