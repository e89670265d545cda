import type { TrustedPets } from "../pet-store.js";
import type { PetStorage } from "../storage/pet-storage.js";
import { createPet } from "./create-pet.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";

/** The operations over a storage, for whoever needs neither key nor limit. */
export function createTrustedPets(pets: PetStorage): TrustedPets {
  return Object.freeze({
    listPets: (input = {}) => listPets(pets, input),
    createPet: (input) => createPet(pets, input),
    getPet: (id) => getPet(pets, id),
  } satisfies TrustedPets);
}
