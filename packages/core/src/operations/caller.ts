import { err, type Result } from "neverthrow";
import { storeClosed, type AdmissionError, type StoreClosed, type WithQuota } from "../errors.js";
import { readCredential, type Credential } from "../keys/credential.js";
import type { Caller, Charged } from "../pet-store.js";
import { createAdmission } from "./admission.js";
import { admit, type AdmissionParts, type Admitted } from "./admit.js";
import { charged } from "./charged.js";
import { createPet } from "./create-pet.js";
import type { Gate } from "./gate.js";
import { getPet } from "./get-pet.js";
import { listPets } from "./list-pets.js";
import type { PetParts } from "./pet-parts.js";

/** What a caller works with. */
export interface CallerParts extends AdmissionParts, PetParts {
  readonly gate: Gate;
}

/** The store as the holder of one API key sees it. */
export function createCaller(
  parts: CallerParts,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  const { gate, anonymous } = parts;
  let credential: Credential | undefined;

  const admitOne = <T>(
    welcome: (admitted: Admitted) => T,
  ): Promise<Result<T, WithQuota<AdmissionError>>> => {
    credential ??= readCredential(apiKey);
    return admit(parts, credential, origin, welcome);
  };
  const closed = (): WithQuota<StoreClosed> => ({
    ...storeClosed(),
    quota: anonymous.peek(origin),
  });
  const chargeAndPerform = async <T extends object, E extends object>(
    operation: (keyId: string) => Promise<Result<T, E>>,
  ): Promise<Result<T & Charged, WithQuota<AdmissionError> | WithQuota<E>>> => {
    const admitted = await admitOne((one) => one);
    if (admitted.isErr()) return err(admitted.error);
    const { keyId, quota } = admitted.value;
    return charged(operation(keyId), quota);
  };
  // Both as one call: a store that is being closed lets the whole of it finish.
  const perform = <T extends object, E extends object>(
    operation: (keyId: string) => Promise<Result<T, E>>,
  ) => gate.pass(() => chargeAndPerform(operation), closed);

  return {
    admit: () => gate.pass(() => admitOne((one) => createAdmission(parts, one)), closed),
    listPets: (input = {}) => perform(() => listPets(parts, input)),
    createPet: (input) => perform((keyId) => createPet(parts, input, keyId)),
    getPet: (id) => perform((keyId) => getPet(parts, id, keyId)),
  };
}
