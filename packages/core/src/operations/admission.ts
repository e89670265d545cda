import { storeClosed, type StoreClosed, type WithQuota } from "../errors.js";
import type { Admission } from "../pet-store.js";
import type { Admitted } from "./admit.js";
import { charged } from "./charged.js";
import { createPet } from "./create-pet.js";
import type { Gate } from "./gate.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";
import type { PetParts } from "./pet-parts.js";

/** The operations for an admitted request, each of which says what is left. */
export function createAdmission(
  parts: PetParts & { readonly gate: Gate },
  { keyId, quota }: Admitted,
): Admission {
  const { gate } = parts;
  const closed = (): WithQuota<StoreClosed> => ({ ...storeClosed(), quota });
  return {
    keyId,
    quota,
    listPets: (input = {}) => gate.pass(() => charged(listPets(parts, input), quota), closed),
    createPet: (input) => gate.pass(() => charged(createPet(parts, input, keyId), quota), closed),
    getPet: (id) => gate.pass(() => charged(getPet(parts, id, keyId), quota), closed),
  };
}
