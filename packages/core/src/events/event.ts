import type { ApiKey } from "../keys/key-ring.js";
import type { Pet } from "../pets/pet.js";

/** What every event tells. */
interface Occurrence {
  /** When it happened, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** An API key was issued. */
export interface KeyIssued extends Occurrence {
  readonly type: "key_issued";
  readonly key: ApiKey;
}

/** An API key was revoked; not told again when it already was. */
export interface KeyRevoked extends Occurrence {
  readonly type: "key_revoked";
  readonly key: ApiKey;
}

/** An API key was given a new secret. */
export interface KeyRotated extends Occurrence {
  readonly type: "key_rotated";
  readonly key: ApiKey;
}

/** An API key was put on another plan. */
export interface PlanChanged extends Occurrence {
  readonly type: "plan_changed";
  readonly key: ApiKey;
}

/** A request was refused because a limit was used up. */
export interface LimitExceeded extends Occurrence {
  readonly type: "limit_exceeded";
  /** The key that it came with, or `undefined` when it came without a valid one. */
  readonly keyId: string | undefined;
  /** Where a request without a valid key came from, as the transport told. */
  readonly origin: string | undefined;
  readonly window: "minute" | "day";
  readonly limit: number;
}

/** An API key was banned for ignoring refusals. Requests refused during the ban tell nothing more. */
export interface KeyBanned extends Occurrence {
  readonly type: "key_banned";
  readonly keyId: string;
  /** When the key is served again, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The host lifted the ban of an API key. A ban that ends by itself tells nothing. */
export interface BanLifted extends Occurrence {
  readonly type: "ban_lifted";
  readonly key: ApiKey;
}

/** An animal was added. */
export interface PetCreated extends Occurrence {
  readonly type: "pet_created";
  readonly pet: Pet;
  /** The key that it was added with, or `undefined` when the host itself added it. */
  readonly keyId: string | undefined;
}

/** An operation was used that is to be removed. */
export interface DeprecatedOperationUsed extends Occurrence {
  readonly type: "deprecated_operation_used";
  readonly operation: "getPet";
  /** The key that it was used with, or `undefined` when the host itself used it. */
  readonly keyId: string | undefined;
}

/** Everything that a store tells its host: closed on `type`. */
export type PetStoreEvent =
  | KeyIssued
  | KeyRevoked
  | KeyRotated
  | PlanChanged
  | LimitExceeded
  | KeyBanned
  | BanLifted
  | PetCreated
  | DeprecatedOperationUsed;
