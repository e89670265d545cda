import { storeClosed } from "../errors.js";
import type { TrustedPets } from "../pet-store.js";
import { createPet } from "./create-pet.js";
import { asIs, type Gate } from "./gate.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";
import type { PetParts } from "./pet-parts.js";

/** The operations for whoever needs neither key nor limit, for as long as the store is open. */
export function createGatedPets(parts: PetParts, gate: Gate): TrustedPets {
  return Object.freeze({
    listPets: (input = {}) => gate.pass(() => listPets(parts, input), storeClosed, asIs),
    createPet: (input) => gate.pass(() => createPet(parts, input), storeClosed, asIs),
    getPet: (id) => gate.pass(() => getPet(parts, id), storeClosed, asIs),
  } satisfies TrustedPets);
}
