export { createManualClock, systemClock, type Clock, type ManualClock } from "./clock.js";
export { createPetStore } from "./create-pet-store.js";
export type {
  AdmissionError,
  ApiKeyBanned,
  CreatePetError,
  GetPetError,
  InvalidApiKey,
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
  RateLimitExceeded,
  StorageUnavailable,
  StoreClosed,
  Unavailable,
  WithQuota,
} from "./errors.js";
export type {
  BanLifted,
  DeprecatedOperationUsed,
  KeyBanned,
  KeyIssued,
  KeyRevoked,
  KeyRotated,
  LimitExceeded,
  PetCreated,
  PetStoreEvent,
  PlanChanged,
} from "./events/event.js";
export type { Events, Listener } from "./events/events.js";
export type { ApiKeySecret, StoredApiKey } from "./keys/api-key.js";
export type {
  ApiKey,
  IssuedKey,
  IssueKeyInput,
  KeyPage,
  KeyRing,
  KeyUsage,
  ListKeysInput,
} from "./keys/key-ring.js";
export { standardPlans, type Plan, type RateLimits } from "./limits/plan.js";
export type { Quota } from "./limits/quota.js";
export { NO_USAGE, type Usage } from "./limits/usage.js";
export { INT64_MAX, INT64_MIN, parseInt64, toInt64 } from "./pets/int64.js";
export { PAGE_LIMIT, type ListPetsInput, type PetPage, type PetQuery } from "./pets/list-query.js";
export type { NewPetInput } from "./pets/new-pet.js";
export { petStatuses, type NewPet, type Pet, type PetStatus } from "./pets/pet.js";
export { systemRandom, type RandomSource } from "./random.js";
export type {
  Admission,
  Caller,
  Charged,
  PetIdInput,
  PetResult,
  PetStore,
  TrustedPets,
} from "./pet-store.js";
export type { BanOptions, PetStoreOptions } from "./settings.js";
export type { KeyQuery, KeyStorage, KeyWithUsage } from "./storage/key-storage.js";
export { createMemoryStorage } from "./storage/memory/memory-storage.js";
export type { PetStorage } from "./storage/pet-storage.js";
export type { Decide, Step } from "./storage/step.js";
export { storageFailure, type StorageFailure } from "./storage/storage-failure.js";
export type { Storage } from "./storage/storage.js";
export type { KeyHolder, UsageStorage } from "./storage/usage-storage.js";
