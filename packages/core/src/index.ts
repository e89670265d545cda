export type { Clock } from "./clock.js";
export { createPetStore, type PetStore } from "./create-pet-store.js";
export type {
  AdmissionError,
  CreatePetError,
  GetPetError,
  KeyError,
  ListPetsError,
  PetStoreError,
  WithQuota,
} from "./errors.js";
export type { Events, PetStoreEvent } from "./events/events.js";
export { keyStateAt, type ApiKey, type KeyState } from "./keys/api-key.js";
export type { IssuedKey, PurgedKeys } from "./keys/change-keys.js";
export type { IssueKeyInput, ListKeysInput, RotateKeyOptions } from "./keys/key-requests.js";
export type { KeyRing } from "./keys/key-ring.js";
export type { KeyPage } from "./keys/read-keys.js";
export { standardPlans, type Plan } from "./limits/plan.js";
export type { Charged, Quota } from "./limits/quota.js";
export type { RateLimits } from "./limits/windows.js";
export { createManualClock, type ManualClock } from "./manual-clock.js";
export type { Admission, Caller, Pets, TrustedPets } from "./operations/callers.js";
export type { CreatedPet, PetResult } from "./operations/pets.js";
export type { CreatePetOptions } from "./pets/idempotency.js";
export { parseInt64 } from "./pets/int64.js";
export { PAGE_LIMIT, type ListPetsInput, type PetPage } from "./pets/list-query.js";
export { petStatuses, type PetStatus } from "./pets/pet-status.js";
export type { NewPetInput, Pet } from "./pets/pet.js";
export type { BanOptions, PetStoreOptions } from "./settings.js";
export type { Signals } from "./events/signals.js";
export { createMemoryStorage } from "./storage/memory-storage.js";
