import { err, type Result } from "neverthrow";
import { storeClosed, type AdmissionError, type StoreClosed, type WithQuota } from "../errors.js";
import { readCredential, type Credential } from "../keys/credential.js";
import type { Caller } from "../pet-store.js";
import { createAdmission } from "./admission.js";
import { admit, type AdmissionParts, type Admitted } from "./admit.js";
import { chargedPage, chargedPet } from "./charged.js";
import { createPet } from "./create-pet.js";
import { asIs, type Gate } from "./gate.js";
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
  const admitAndPerform = async <T, E extends object>(
    operation: (admitted: Admitted) => Promise<Result<T, E>>,
  ): Promise<Result<T, WithQuota<AdmissionError> | E>> => {
    const admitted = await admitOne((one) => one);
    return admitted.isErr() ? err(admitted.error) : operation(admitted.value);
  };
  // Both as one call: a store that is being closed lets the whole of it finish.
  const perform = <T, E extends object>(operation: (admitted: Admitted) => Promise<Result<T, E>>) =>
    gate.pass(() => admitAndPerform(operation), closed, asIs);

  return {
    admit: () => gate.pass(() => admitOne((one) => createAdmission(parts, one)), closed, asIs),
    listPets: (input = {}) =>
      perform(async ({ quota }) => chargedPage(await listPets(parts, input), quota)),
    createPet: (input) =>
      perform(async ({ keyId, quota }) => chargedPet(await createPet(parts, input, keyId), quota)),
    getPet: (id) =>
      perform(async ({ keyId, quota }) => chargedPet(await getPet(parts, id, keyId), quota)),
  };
}
