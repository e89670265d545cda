import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import type { AdmissionError, WithQuota } from "../errors.js";
import { parseApiKey } from "../keys/key-format.js";
import { withCharge, withQuota, type Charged, type ChargedKey } from "../limits/window.js";
import type { Admission, Caller, TrustedPets } from "../pet-store.js";
import { admit } from "./admit.js";
import type { Calls } from "./calls.js";
import { createPet, prepareGetPet, prepareListPets, reportGetPet } from "./pets.js";

/** Creates the operations of a caller with an API key. */
export function createCaller(
  context: Context,
  calls: Calls,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  let digest: ReturnType<typeof parseApiKey> | undefined;
  const admitRequest = <T>(start: () => T) =>
    admit(context, (digest ??= parseApiKey(apiKey)), origin, start);
  const originQuota = () => context.anonymous.peek(origin);

  /**
   * Performs an operation. `prepare` validates the input, and returns what is started while the request is charged;
   * `complete` has the rest, for after the charge.
   */
  const perform = <Started, T extends object, E extends object>(
    prepare: () => () => Started,
    complete: (started: Started, keyId: string) => Promise<Result<T, E>>,
  ): ResultAsync<T & Charged, WithQuota<E | AdmissionError>> => {
    let charged: ChargedKey | undefined;
    const call = async (): Promise<Result<T & Charged, WithQuota<E | AdmissionError>>> => {
      const admitted = await admitRequest(prepare());
      if (admitted.isErr()) return err(admitted.error);
      charged = admitted.value.charged;
      return chargedResult(await complete(admitted.value.started, charged.keyId), charged);
    };
    return calls.run(call, (error) =>
      charged === undefined ? withQuota(error, originQuota()) : withCharge(error, charged),
    );
  };

  return {
    admit: () =>
      calls.run(
        async () =>
          (await admitRequest(startNothing())).map(({ charged }) =>
            createAdmission(context, calls, charged),
          ),
        (error) => withQuota(error, originQuota()),
      ),
    listPets: (input = {}) => perform(() => prepareListPets(context, input), asStarted),
    createPet: (input, options = {}) =>
      perform(startNothing, (_, keyId) => createPet(context, input, options, keyId)),
    getPet: (id) =>
      perform(
        () => prepareGetPet(context, id),
        (pet, keyId) => reportGetPet(context, pet, keyId),
      ),
  };
}

const asStarted = <T>(started: T): T => started;
const startNothing = () => () => undefined;

function createAdmission(context: Context, calls: Calls, charged: ChargedKey): Admission {
  const { quota, keyId, plan } = charged;
  const perform = <T extends object, E extends object>(operation: () => Promise<Result<T, E>>) =>
    calls.run(
      async () => chargedResult(await operation(), charged),
      (error) => withCharge(error, charged),
    );
  return {
    keyId,
    plan,
    quota,
    listPets: (input = {}) => perform(() => prepareListPets(context, input)()),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options, keyId)),
    getPet: (id) => perform(() => reportGetPet(context, prepareGetPet(context, id)(), keyId)),
  };
}

function chargedResult<T extends object, E extends object>(
  result: Result<T, E>,
  charged: ChargedKey,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr()
    ? err(withCharge(result.error, charged))
    : ok(withCharge(result.value, charged));
}

/** Creates the host's own operations on pets. */
export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  const perform = <T, E>(operation: () => Promise<Result<T, E>>) =>
    calls.run(operation, (error) => error);
  return Object.freeze({
    listPets: (input = {}) => perform(() => prepareListPets(context, input)()),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options)),
    getPet: (id) => perform(() => reportGetPet(context, prepareGetPet(context, id)())),
  } satisfies TrustedPets);
}
