// Not public: what only the packages of this repository use. Any release may change or remove it.
export { MAX_TIME, systemClock } from "./clock.js";
export * as engineErrors from "./errors.js";
export { contained, deepFrozen } from "./events/events.js";
export { byUse, type SecretState } from "./keys/api-key.js";
export { isDigest, isKeyHint, isKeyId } from "./keys/key-format.js";
export { isKeyLabel, LABEL_LENGTH, LONGEST_AGE, LONGEST_OVERLAP } from "./keys/key-requests.js";
export { parseAddress } from "./limits/anonymous.js";
export { areRateLimits, limitNames } from "./limits/plan.js";
export { limitsOnly } from "./limits/windows.js";
export { parseIdempotencyKey } from "./pets/idempotency.js";
export { INT64_MIN } from "./pets/int64.js";
export { petFilters, type PetFilter } from "./pets/list-query.js";
export { jsonBytes, LONGEST_NAME, parseNewPet, petOf } from "./pets/pet.js";
export { systemRandom, systemUuid, type RandomSource } from "./random.js";
export { signalChannel, type RequestSignal, type TransactionSignal } from "./events/signals.js";
export type { EachField } from "./validation/fields.js";
export { isText } from "./validation/text.js";
export { checkedOptions } from "./validation/options.js";
