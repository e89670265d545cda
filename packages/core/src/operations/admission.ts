import type { Result } from "neverthrow";
import { storeClosed, type StoreClosed, type WithQuota } from "../errors.js";
import type { Admission, PetResult } from "../pet-store.js";
import type { PetPage } from "../pets/list-query.js";
import type { Admitted } from "./admit.js";
import { chargedPage, chargedPet } from "./charged.js";
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
  const page = <E extends object>(listed: Result<PetPage, E>) => chargedPage(listed, quota);
  const pet = <E extends object>(result: Result<PetResult, E>) => chargedPet(result, quota);
  return {
    keyId,
    quota,
    listPets: (input = {}) => gate.pass(() => listPets(parts, input), closed, page),
    createPet: (input) => gate.pass(() => createPet(parts, input, keyId), closed, pet),
    getPet: (id) => gate.pass(() => getPet(parts, id, keyId), closed, pet),
  };
}
