import type { Result } from "neverthrow";
import type { PetPage, PetQuery } from "../pets/list-query.js";
import type { NewPet, Pet } from "../pets/pet.js";
import type { StorageFailure } from "./storage-failure.js";

/** Keeps the inventory. */
export interface PetStorage {
  /**
   * Adds an animal under a fresh id: positive, greater than every id given out before, never reused.
   * When it answers `Ok`, the animal survives whatever the storage promises to survive.
   */
  create(pet: NewPet): Promise<Result<Pet, StorageFailure>>;
  /** The animal with this id, or `undefined` when there is none. */
  find(id: bigint): Promise<Result<Pet | undefined, StorageFailure>>;
  /**
   * The first `limit` animals in ascending order of id that have the status, if one is given, and an
   * id greater than `after`, if given. `next` is the last id of the page when more follow.
   * Sees every animal whose `create` was answered before this was called. The page may be shared
   * between calls and must not be changed.
   */
  list(query: PetQuery): Promise<Result<PetPage, StorageFailure>>;
}
