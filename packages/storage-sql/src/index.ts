export {
  AGAIN,
  CallFailure,
  Contention,
  TooLate,
  type Call,
  type Commit,
  type CommitErrors,
  type Outcome,
} from "./commit/commit.js";
export { createGroupCommit, type GroupCommit } from "./commit/group-commit.js";
export { createTurns } from "./commit/turns.js";
export { monotonicNow, retryWhileBusy, type RetrySettings } from "./commit/retry.js";
export {
  createChargedUsage,
  createUsageTransaction,
  type UsageReader,
  type UsageSubject,
  type UsageTransaction,
} from "./api-key-usage.js";
export { createClose, createWarnings, storageClosed, type Warnings } from "./lifecycle.js";
export {
  createPageCache,
  CREATION_COLUMNS,
  keyOf,
  NoIdLeft,
  PET_COLUMNS,
  prepareLists,
  toCreation,
  toPet,
  type PetCreation,
} from "./pets.js";
export { compile, type BuildQuery, type Integers, type Parameter, type Tuple } from "./query.js";
export {
  KEY_COLUMNS,
  keyColumns,
  keyValues,
  LIMIT_COLUMNS,
  newPetFields,
  petColumns,
  PRESENTED_KEY_COLUMNS,
  toKeyWithUsage,
  toPresentedKey,
  toUsage,
  USAGE_COLUMNS,
  usageFields,
  type ApiKeysTable,
  type ApiKeyUsageTable,
  type BareKey,
  type KeyRow,
  type KeysAfter,
  type PetsTable,
  type SqlSchema,
} from "./schema.js";
