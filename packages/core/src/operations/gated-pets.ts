import { storeClosed } from "../errors.js";
import type { TrustedPets } from "../pet-store.js";
import type { PetStorage } from "../storage/pet-storage.js";
import { createPet } from "./create-pet.js";
import type { Gate } from "./gate.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";

/** The operations for whoever needs neither key nor limit, for as long as the store is open. */
export function createGatedPets(pets: PetStorage, gate: Gate): TrustedPets {
  return Object.freeze({
    listPets: (input = {}) => gate.pass(() => listPets(pets, input), storeClosed),
    createPet: (input) => gate.pass(() => createPet(pets, input), storeClosed),
    getPet: (id) => gate.pass(() => getPet(pets, id), storeClosed),
  } satisfies TrustedPets);
}
