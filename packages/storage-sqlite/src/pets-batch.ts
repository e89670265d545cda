import { storageFailure, type NewPet, type Pet, type StorageFailure } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import type { PetWrites } from "./tables/pets.js";
import type { Batch } from "./committer.js";

/**
 * The animals that one batch of calls adds: each gets its id at once, since the batch holds the lock
 * for writing, and they are written together.
 */
export interface PetsBatch extends Batch {
  /** Adds an animal. Fails when no id is left. */
  add(pet: NewPet): Result<Pet, StorageFailure>;
  /** Adds animals, with ascending ids. Fails when there are not enough ids left for all of them. */
  addAll(pets: readonly NewPet[]): Result<readonly Pet[], StorageFailure>;
}

const NO_ID_LEFT = "Adding a pet failed: no id is left.";
const GREATEST_ID = 2n ** 63n - 1n;

export function createPetsBatch(table: PetWrites): PetsBatch {
  const added: Pet[] = [];
  let last: bigint | undefined;

  const lastId = (): bigint => (last ??= table.lastId());
  const add = ({ name, categoryId, status }: NewPet): Pet => {
    const id = (last = lastId() + 1n);
    const pet = Object.freeze({ id, name, categoryId, status });
    added.push(pet);
    return pet;
  };
  const hasIdsFor = (count: number): boolean => GREATEST_ID - lastId() >= count;

  return {
    add: (pet) => (hasIdsFor(1) ? ok(add(pet)) : err(storageFailure(NO_ID_LEFT))),
    addAll: (pets) =>
      hasIdsFor(pets.length) ? ok(pets.map(add)) : err(storageFailure(NO_ID_LEFT)),
    finish: () => table.insert(added),
  };
}
