// Not public: what only the packages of this repository use. Any release may change or remove it.
export { MAX_TIME, systemClock } from "./clock.js";
export * as engineErrors from "./errors.js";
export { byUse, type SecretState } from "./keys/api-key.js";
export { isKeyHint, isKeyId } from "./keys/key-format.js";
export { isKeyLabel, type PlanInput } from "./keys/key-requests.js";
export { parseAddress } from "./limits/client-address.js";
export { areRateLimits, limitNames } from "./limits/plan.js";
export { parseIdempotencyKey } from "./pets/idempotency.js";
export { INT64_MIN } from "./pets/int64.js";
export { jsonBytes, petFilters, type PetFilter } from "./pets/list-query.js";
export { LONGEST_NAME, parseNewPet, petOf } from "./pets/pet.js";
export { systemRandom, systemUuid, type RandomSource } from "./random.js";
export { signalChannel, type RequestSignal, type TransactionSignal } from "./events/signals.js";
export type { EachField } from "./validation.js";
