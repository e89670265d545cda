import type { ResultAsync } from "neverthrow";
import type { WithQuota } from "../errors.js";
import type { Quota } from "../limits/quota.js";
import type { Admission, Charged, TrustedPets } from "../pet-store.js";
import type { Admitted } from "./admit.js";

/** The operations for an admitted request: each answer says what is left. */
export function createAdmission(pets: TrustedPets, { keyId, quota }: Admitted): Admission {
  return Object.freeze({
    keyId,
    quota,
    listPets: (input) => charged(pets.listPets(input), quota),
    createPet: (input) => charged(pets.createPet(input), quota),
    getPet: (id) => charged(pets.getPet(id), quota),
  } satisfies Admission);
}

function charged<T extends object, E extends object>(
  result: ResultAsync<T, E>,
  quota: Quota,
): ResultAsync<T & Charged, WithQuota<E>> {
  return result.map((value) => ({ ...value, quota })).mapErr((error) => ({ ...error, quota }));
}
