import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import type { AdmissionError, WithQuota } from "../errors.js";
import { parseApiKey } from "../keys/key-format.js";
import { withQuota, type Charged, type Quota } from "../limits/window.js";
import type { Admission, Caller, TrustedPets } from "../pet-store.js";
import { admit, type ChargedKey } from "./admit.js";
import type { Calls } from "./calls.js";
import { createPet, getPet, listPets } from "./pets.js";

/** Creates the operations of a caller with an API key. */
export function createCaller(
  context: Context,
  calls: Calls,
  apiKey: string | undefined,
  origin: string | undefined,
): Caller {
  let digest: ReturnType<typeof parseApiKey> | undefined;
  const admitRequest = () => admit(context, (digest ??= parseApiKey(apiKey)), origin);
  const originQuota = () => context.anonymous.peek(origin);

  const perform = <T extends object, E extends object>(
    operation: (keyId: string) => Promise<Result<T, E>>,
  ): ResultAsync<T & Charged, WithQuota<E | AdmissionError>> => {
    let quota: Quota | undefined;
    const call = async (): Promise<Result<T & Charged, WithQuota<E | AdmissionError>>> => {
      const admitted = await admitRequest();
      if (admitted.isErr()) return err(admitted.error);
      quota = admitted.value.quota;
      return chargedResult(await operation(admitted.value.keyId), quota);
    };
    return calls.run(call, (error) => withQuota(error, quota ?? originQuota()));
  };

  return {
    admit: () =>
      calls.run(
        async () => (await admitRequest()).map((key) => createAdmission(context, calls, key)),
        (error) => withQuota(error, originQuota()),
      ),
    listPets: (input = {}) => perform(() => listPets(context, input)),
    createPet: (input, options = {}) =>
      perform((keyId) => createPet(context, input, options, keyId)),
    getPet: (id) => perform((keyId) => getPet(context, id, keyId)),
  };
}

function createAdmission(context: Context, calls: Calls, { keyId, quota }: ChargedKey): Admission {
  const perform = <T extends object, E extends object>(operation: () => Promise<Result<T, E>>) =>
    calls.run(
      async () => chargedResult(await operation(), quota),
      (error) => withQuota(error, quota),
    );
  return {
    keyId,
    quota,
    listPets: (input = {}) => perform(() => listPets(context, input)),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options, keyId)),
    getPet: (id) => perform(() => getPet(context, id, keyId)),
  };
}

function chargedResult<T extends object, E extends object>(
  result: Result<T, E>,
  quota: Quota,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr() ? err(withQuota(result.error, quota)) : ok(withQuota(result.value, quota));
}

/** Creates the host's own operations on pets. */
export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  const perform = <T, E>(operation: () => Promise<Result<T, E>>) =>
    calls.run(operation, (error) => error);
  return Object.freeze({
    listPets: (input = {}) => perform(() => listPets(context, input)),
    createPet: (input, options = {}) => perform(() => createPet(context, input, options)),
    getPet: (id) => perform(() => getPet(context, id)),
  } satisfies TrustedPets);
}
