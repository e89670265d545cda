// Not public: what only the packages of this repository use. Any release may change or remove it.
export { systemClock } from "./clock.js";
export type { InvalidIdempotencyKey } from "./errors.js";
export { byUse } from "./keys/api-key.js";
export { isKeyHint, isKeyId } from "./keys/key-format.js";
export { isKeyLabel } from "./keys/key-requests.js";
export { limitNames } from "./limits/plan.js";
export { parseAddress } from "./limits/client-address.js";
export { parseIdempotencyKey } from "./pets/idempotency.js";
export {
  eachWindow,
  limitOf,
  windowNames,
  windows,
  type EachWindow,
  type WindowName,
} from "./limits/windows.js";
export { LONGEST_NAME, parseNewPet, petOf } from "./pets/pet.js";
export { systemRandom, systemUuid } from "./random.js";
export { signalChannel, type RequestSignal, type TransactionSignal } from "./signals.js";
export type { EachField } from "./validation.js";
