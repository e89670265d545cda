import type { Result } from "neverthrow";
import type { Clock } from "../clock.js";
import type { StoredApiKey } from "../keys/api-key.js";
import type { Usage } from "../limits/usage.js";
import type { PetPage, PetQuery } from "../pets/list-query.js";
import type { ImportedPets, NewPet, Pet } from "../pets/pet.js";

/**
 * Keeps the data of a store. Several processes may share the data; every member is atomic among all of them. A member
 * that fails has changed nothing, unless its failure says `mayBeStored`. Members never throw, and their promises never
 * reject: a failure is an `Err` value. A change that throws or rejects may have been stored.
 */
export interface Storage {
  readonly pets: PetStorage;
  readonly keys: KeyStorage;
  readonly usage: UsageStorage;
  /** The clock of the data, if several machines share it: their own clocks differ. Used by a store without its own. */
  readonly clock?: Clock;
  /** Passes every later warning to the listener. A storage that has none to give leaves this member out. */
  onWarning?(listener: (warning: StorageWarning) => void): void;
  /** Completes running calls and releases all resources. Later calls fail. Closing again is allowed. */
  close(): Promise<Result<void, StorageError>>;
}

export interface StorageError {
  /** What failed, for the host's log. Contains no secret. */
  readonly message: string;
  /** The underlying error, if any. */
  readonly cause: unknown;
  /** Whether the change may have been stored: the storage could not find out in time. Default: no. */
  readonly mayBeStored?: boolean;
}

/** A message to the operator about the storage as a whole, not about one call. */
export interface StorageWarning {
  /** Defined by the storage, such as `large_log`. */
  readonly code: string;
  /** For the operator. Contains no secret. */
  readonly message: string;
}

export function storageError(message: string, cause?: unknown): StorageError {
  return { message, cause };
}

export interface PetStorage {
  /**
   * Adds a pet under a new id: positive, greater than every earlier id, never reused. When the promise
   * resolves with `Ok`, the pet is as durable as the storage documents.
   */
  create(pet: NewPet): Promise<Result<Pet, StorageError>>;
  /**
   * Adds a pet like `create` and remembers its id under the token, both in one atomic step. If a creation with this token
   * is remembered, adds nothing and returns that creation. A creation is remembered as long as `now` of a call is before
   * its `expiresAt`. Each call may remove a few that are no longer remembered.
   */
  createOnce(pet: NewPet, creation: CreationRequest): Promise<Result<Creation, StorageError>>;
  /**
   * Atomically adds those of the pets that are not there, under their own ids, which are positive. If one differs from
   * the pet with its id, it adds none (`missingPets` sees to both). Later pets get greater ids.
   */
  import(pets: readonly Pet[]): Promise<Result<ImportedPets, StorageError>>;
  /** Finds the pet with this id; `undefined` if there is none. */
  find(id: bigint): Promise<Result<Pet | undefined, StorageError>>;
  /**
   * Lists up to `limit` pets in ascending order of id: those that pass the filters that are given, and with an id greater
   * than `after`, if it is given; fewer if their JSON would be longer than about `PAGE_BYTES` (`pageOf` sees to both).
   * `next` is the last id of the page if more pets follow. The page includes every pet whose `create` resolved before
   * this call. It may be shared between calls and must not be changed.
   */
  list(query: PetQuery): Promise<Result<PetPage, StorageError>>;
}

/** Identifies a creation, so that a retry does not add a second pet. Times are in milliseconds since the Unix epoch. */
export interface CreationRequest {
  /** The same for each retry of a creation, and for no other creation. */
  readonly token: string;
  /** A digest of the pet to add. The storage only returns it. */
  readonly fingerprint: string;
  readonly now: number;
  /** From when the creation is no longer remembered. */
  readonly expiresAt: number;
}

export interface Creation extends Pick<CreationRequest, "fingerprint" | "expiresAt"> {
  readonly petId: bigint;
  /** Whether an earlier call added the pet. */
  readonly replayed: boolean;
}

/** The outcome of a decision: the state to store and the result to return to the caller. */
export interface Decided<State, Value> {
  /** The state to store. If it is left out, or is the state that was passed in, nothing is stored. */
  readonly next?: State | undefined;
  readonly result: Value;
}

/**
 * A decision, which a storage runs between a read and a write. It is synchronous and stores nothing itself. A storage
 * may run it more than once in one call; only the last run counts. If it throws, the call fails and nothing is stored.
 */
export type Decide<Current, State, Value> = (current: Current) => Decided<State, Value>;

/** A key together with its usage; `NO_USAGE` if nothing is stored yet. */
export interface KeyWithUsage {
  readonly key: StoredApiKey;
  readonly usage: Usage;
}

export interface KeyQuery {
  /** The size of the page, at least 1. */
  readonly limit: number;
  /** Only keys whose id sorts after this one. */
  readonly after: string | undefined;
  /** Only keys whose usage remembers a ban, whether it has ended or not. */
  readonly banned: boolean;
}

/** Keeps the API keys, as durably as the inventory. */
export interface KeyStorage {
  /** Adds a key. Its id and digests are new. */
  insert(key: StoredApiKey): Promise<Result<void, StorageError>>;
  /**
   * Atomically adds those of the keys whose ids are not taken, with their usage, and returns how many these were. The
   * ids differ. If a digest is taken, by a key in the storage or by another of these, it adds none and fails.
   */
  import(keys: readonly KeyWithUsage[]): Promise<Result<number, StorageError>>;
  /** Finds the key with this id; `undefined` if there is none. */
  find(id: string): Promise<Result<KeyWithUsage | undefined, StorageError>>;
  /** Lists keys in ascending order of id, compared byte by byte. */
  list(query: KeyQuery): Promise<Result<readonly KeyWithUsage[], StorageError>>;
  /**
   * Atomically passes the key with this id to `decide` and stores the key that it returns: everything but the id may
   * differ. If there is no such key, `decide` gets `undefined` and nothing is stored.
   */
  update<Value>(
    id: string,
    decide: Decide<StoredApiKey | undefined, StoredApiKey, Value>,
  ): Promise<Result<Value, StorageError>>;
  /**
   * Atomically removes the keys with these ids, with their secrets and usage, and returns how many there were. The ids
   * differ; one that no key has is skipped.
   */
  remove(ids: readonly string[]): Promise<Result<number, StorageError>>;
}

/** The key that a presented secret belongs to, and its usage; `NO_USAGE` if nothing is stored yet. */
export interface PresentedKey {
  readonly key: Pick<StoredApiKey, "id" | "plan" | "limits" | "expiresAt" | "revokedAt">;
  /** From when the presented secret is refused, in milliseconds since the Unix epoch. */
  readonly secretExpiresAt: number | undefined;
  readonly usage: Usage;
}

/** Keeps the usage of each key: one record per key, shared by all its secrets. */
export interface UsageStorage {
  /**
   * Atomically finds the key that has a secret with this digest, passes the key and its usage to `decide`, and stores
   * the usage that it returns. If no key has such a secret, `decide` gets `undefined` and nothing is stored. The usage
   * survives the end of the process.
   *
   * Unlike other decisions, this one may call `pets.find` and `pets.list`, for the request that it admits. A storage
   * can run them in the transaction of the charge.
   */
  charge<Value>(
    digest: string,
    decide: Decide<PresentedKey | undefined, Usage, Value>,
  ): Promise<Result<Value, StorageError>>;
  /**
   * Finds the key that has a secret with this digest, and its usage; `undefined` if there is none. It does not wait for
   * a write that is under way. Unlike a charge, it may be called often for unknown digests.
   */
  findByDigest(digest: string): Promise<Result<PresentedKey | undefined, StorageError>>;
  /**
   * Atomically passes the usage of the key with this id to `decide` (`NO_USAGE` if nothing is stored yet) and stores the
   * usage that it returns. If there is no such key, `decide` gets `undefined` and nothing is stored.
   */
  update<Value>(
    keyId: string,
    decide: Decide<Usage | undefined, Usage, Value>,
  ): Promise<Result<Value, StorageError>>;
}
