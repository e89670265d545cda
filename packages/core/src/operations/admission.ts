import { ResultAsync } from "neverthrow";
import type { Admission, TrustedPets } from "../pet-store.js";
import type { Admitted } from "./admit.js";
import { charged } from "./charged.js";

/** The operations for an admitted request, each of which says what is left. */
export function createAdmission(pets: TrustedPets, { keyId, quota }: Admitted): Admission {
  return {
    keyId,
    quota,
    listPets: (input) => new ResultAsync(charged(pets.listPets(input), quota)),
    createPet: (input) => new ResultAsync(charged(pets.createPet(input), quota)),
    getPet: (id) => new ResultAsync(charged(pets.getPet(id), quota)),
  };
}
