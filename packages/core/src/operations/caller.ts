import type { ResultAsync } from "neverthrow";
import { storeClosed, type AdmissionError, type StoreClosed, type WithQuota } from "../errors.js";
import { readCredential, type Credential } from "../keys/credential.js";
import type { Admission, Caller, TrustedPets } from "../pet-store.js";
import { createAdmission } from "./admission.js";
import { admit, type AdmissionParts } from "./admit.js";
import type { Gate } from "./gate.js";

/** What a caller works with. */
export interface CallerParts extends AdmissionParts {
  readonly gate: Gate;
  /** The operations behind the gate, for calls that have already passed it. */
  readonly pets: TrustedPets;
  /** The operations that pass the gate themselves. */
  readonly gatedPets: TrustedPets;
}

/** The store as the holder of one API key sees it. */
export function createCaller(
  parts: CallerParts,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  const { gate, anonymous } = parts;
  let credential: Credential | undefined;

  const admitted = (pets: TrustedPets): ResultAsync<Admission, WithQuota<AdmissionError>> => {
    credential ??= readCredential(apiKey);
    return admit(parts, credential, origin).map((one) => createAdmission(pets, one));
  };
  const closed = (): WithQuota<StoreClosed> => ({
    ...storeClosed(),
    quota: anonymous.peek(origin),
  });
  const perform = <T, E>(operation: (admission: Admission) => ResultAsync<T, E>) =>
    gate.pass(() => admitted(parts.pets).andThen(operation), closed);

  return Object.freeze({
    admit: () => gate.pass(() => admitted(parts.gatedPets), closed),
    listPets: (input) => perform((admission) => admission.listPets(input)),
    createPet: (input) => perform((admission) => admission.createPet(input)),
    getPet: (id) => perform((admission) => admission.getPet(id)),
  } satisfies Caller);
}
