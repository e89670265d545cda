export { createManualClock, systemClock, type Clock, type ManualClock } from "./clock.js";
export { createPetStore, type PetStore } from "./create-pet-store.js";
export type {
  AdmissionError,
  ApiKeyBanned,
  CreatePetError,
  CreatePetFailure,
  GetPetError,
  IdempotencyKeyReused,
  InvalidApiKey,
  InvalidIdempotencyKey,
  InvalidKeyRequest,
  InvalidPet,
  InvalidQuery,
  KeyError,
  KeyInactive,
  KeyNotFound,
  ListPetsError,
  MissingApiKey,
  PetNotFound,
  PetStoreError,
  RateLimitExceededError,
  StorageUnavailable,
  StoreClosed,
  Unavailable,
  WithQuota,
} from "./errors.js";
export type {
  BanLifted,
  DeprecatedOperationUsed,
  Events,
  KeyBanned,
  KeyIssued,
  KeyRevoked,
  KeyRotated,
  RateLimitExceeded,
  Listener,
  PetCreated,
  PetStoreEvent,
  PlanChanged,
  StorageWarned,
} from "./events.js";
export type { IssuedKey, PurgedKeys } from "./keys/change-keys.js";
export { isKeyHint, isKeyId } from "./keys/key-format.js";
export {
  isKeyLabel,
  type IssueKeyInput,
  type ListKeysInput,
  type PlanInput,
  type PurgeKeysOptions,
  type RotateKeyOptions,
} from "./keys/key-requests.js";
export type { KeyRing } from "./keys/key-ring.js";
export type { KeyPage } from "./keys/read-keys.js";
export {
  keyStateAt,
  type ApiKey,
  type ApiKeySecret,
  type KeyState,
  type SecretState,
  type StoredApiKey,
} from "./keys/api-key.js";
export { parseAddress } from "./limits/client-address.js";
export { standardPlans, type Plan, type RateLimits } from "./limits/plan.js";
export { NO_USAGE, type Usage } from "./limits/usage.js";
export type { Charged } from "./limits/charged.js";
export type { Quota, WindowQuota, WindowQuotas } from "./limits/window.js";
export { INT64_MAX, INT64_MIN, parseInt64 } from "./pets/int64.js";
export { missingPets, type ImportedPets } from "./pets/moved-pets.js";
export { parseIdempotencyKey, type CreatePetOptions } from "./pets/idempotency.js";
export {
  PAGE_BYTES,
  PAGE_LIMIT,
  pageOf,
  type ListPetsInput,
  type PetPage,
  type PetQuery,
} from "./pets/list-query.js";
export {
  LONGEST_NAME,
  parseNewPet,
  petOf,
  petStatuses,
  type EachField,
  type NewPet,
  type NewPetInput,
  type Pet,
  type PetStatus,
} from "./pets/pet.js";
export { systemRandom, systemUuid, type RandomSource } from "./random.js";
export type { Admission, Caller, Pets, TrustedPets } from "./operations/callers.js";
export type { CreatedPet, PetIdInput, PetResult } from "./operations/pets.js";
export type { BanOptions, PetStoreOptions } from "./settings.js";
export {
  signalChannel,
  type BanSignal,
  type RequestSignal,
  type SignalChannel,
  type Signals,
  type StorageFailureSignal,
  type StorageWarningSignal,
  type TransactionSignal,
} from "./signals.js";
export { createMemoryStorage } from "./storage/memory-storage.js";
export { storageFailure } from "./storage/storage.js";
export type {
  Creation,
  CreationRequest,
  Decide,
  Decided,
  PresentedKey,
  KeyQuery,
  KeyStorage,
  KeyWithUsage,
  PetStorage,
  Storage,
  StorageFailure,
  StorageWarning,
  UsageStorage,
} from "./storage/storage.js";
