export {
  AGAIN,
  CallFailure,
  Contention,
  storageClosed,
  NoIdLeft,
  TooLate,
  type Call,
  type Commit,
  type CommitErrors,
  type Outcome,
} from "./commit/commit.js";
export { createGroupCommit, type GroupCommit } from "./commit/group-commit.js";
export { monotonicNow, retryWhileBusy } from "./commit/retry.js";
export { createClose, createWarnings, type Warnings } from "./storage/lifecycle.js";
export { createPageCache, keyOf, pageOf } from "./storage/page-cache.js";
export {
  createUsageStorage,
  createUsageTransaction,
  type UsageReader,
  type UsageSubject,
  type UsageTransaction,
} from "./storage/usage-storage.js";
export {
  keyValues,
  KEY_COLUMNS,
  selectKey,
  selectKeys,
  toKeyWithUsage,
  type BareKey,
  type KeyRow,
  type KeysAfter,
} from "./tables/api-keys.js";
export {
  PRESENTED_KEY_COLUMNS,
  PRESENTED_KEY_SELECTION,
  joinPresentedKeys,
  toPresentedKey,
  toUsage,
} from "./tables/api-key-usage.js";
export {
  CREATION_COLUMNS,
  PET_COLUMNS,
  selectPet,
  selectPets,
  selectPetsByStatus,
  toCreation,
  toPet,
  type PetCreation,
} from "./tables/pets.js";
export {
  compile,
  type BuildQuery,
  type Integers,
  type Parameter,
  type Tuple,
} from "./tables/query.js";
export {
  USAGE_COLUMNS,
  usageFields,
  type ApiKeySecretsTable,
  type ApiKeysTable,
  type ApiKeyUsageTable,
  type PetsTable,
  type SqlSchema,
} from "./tables/schema.js";
