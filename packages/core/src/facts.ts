// Not public: what the packages of this repository know without an engine. It loads nothing else.
export type { CodedError } from "./errors.js";
export { codeOf, keysOf, ownField } from "./validation/fields.js";
export * from "./limits/windows.js";
export type { WindowQuota } from "./limits/quota.js";
export { createManualClock } from "./manual-clock.js";
export { operations, type OperationFacts, type OperationName } from "./operations.js";
export { parseInt64, toInt64 } from "./pets/int64.js";
export { isPetStatus, petStatuses } from "./pets/pet-status.js";
export { count, isIdempotencyKey, replaceUnprintable, UNPRINTABLE } from "./validation/text.js";
