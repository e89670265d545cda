import { err, ok, type Result } from "neverthrow";
import { storeClosed, type AdmissionError, type StoreClosed, type WithQuota } from "../errors.js";
import { readCredential, type Credential } from "../keys/credential.js";
import type { Caller, Charged, TrustedPets } from "../pet-store.js";
import type { PetStorage } from "../storage/pet-storage.js";
import { createAdmission } from "./admission.js";
import { admit, type AdmissionParts, type Admitted } from "./admit.js";
import { charged } from "./charged.js";
import { createPet } from "./create-pet.js";
import type { Gate } from "./gate.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";

/** What a caller works with. */
export interface CallerParts extends AdmissionParts {
  readonly gate: Gate;
  readonly pets: PetStorage;
  /** The operations that an admission performs later, when the gate may have been closed. */
  readonly gatedPets: TrustedPets;
}

/** The store as the holder of one API key sees it. */
export function createCaller(
  parts: CallerParts,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  const { gate, anonymous, pets, gatedPets } = parts;
  let credential: Credential | undefined;

  const admitOne = (): Promise<Result<Admitted, WithQuota<AdmissionError>>> => {
    credential ??= readCredential(apiKey);
    return admit(parts, credential, origin);
  };
  const closed = (): WithQuota<StoreClosed> => ({
    ...storeClosed(),
    quota: anonymous.peek(origin),
  });
  const chargeAndPerform = async <T extends object, E extends object>(
    operation: () => Promise<Result<T, E>>,
  ): Promise<Result<T & Charged, WithQuota<AdmissionError> | WithQuota<E>>> => {
    const admitted = await admitOne();
    if (admitted.isErr()) return err(admitted.error);
    return charged(operation(), admitted.value.quota);
  };
  // Both as one call: a store that is being closed lets the whole of it finish.
  const perform = <T extends object, E extends object>(operation: () => Promise<Result<T, E>>) =>
    gate.pass(() => chargeAndPerform(operation), closed);

  return {
    admit: () =>
      gate.pass(async () => {
        const admitted = await admitOne();
        return admitted.isErr()
          ? err(admitted.error)
          : ok(createAdmission(gatedPets, admitted.value));
      }, closed),
    listPets: (input = {}) => perform(() => listPets(pets, input)),
    createPet: (input) => perform(() => createPet(pets, input)),
    getPet: (id) => perform(() => getPet(pets, id)),
  };
}
