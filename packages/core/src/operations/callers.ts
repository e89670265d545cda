import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import type { AdmissionError, CodedError, WithQuota } from "../errors.js";
import { parseApiKey } from "../keys/key-format.js";
import { withCharge, type Charged } from "../limits/quota.js";
import { admit, type ChargedKey } from "./admit.js";
import type { Calls } from "./calls.js";
import { operationsOf, type Perform, type PetOperations } from "./pets.js";

/** Code written against `Pets<TransportError>` accepts both a caller in this process and a remote client. */
export type Pets<ExtraError = never> = PetOperations<
  WithQuota<AdmissionError> | ExtraError,
  Charged
>;

/** The host's own operations: without key and limits, with the same validation. */
export type TrustedPets = PetOperations<never, unknown>;

/** The operations of a client with an API key. Each call authenticates and takes one token. */
export interface Caller extends Pets {
  /** Authenticates and takes one token first: for a transport, which may refuse the request for its own reasons. */
  admit(): ResultAsync<Admission, WithQuota<AdmissionError>>;
}

/** One admitted request, which is already charged. A transport performs at most one operation on it. */
export interface Admission extends PetOperations<never, Charged>, ChargedKey {}

export function createCaller(
  context: Context,
  calls: Calls,
  apiKey: string | undefined,
  clientAddress: string | undefined,
): Caller {
  let digest: ReturnType<typeof parseApiKey> | undefined;
  const admitRequest = <T>(start: () => T) =>
    admit(context, (digest ??= parseApiKey(apiKey)), clientAddress, start);
  const anonymous = () => ({ quota: context.anonymous.peek(clientAddress) });

  const perform = <Started, T extends object, E extends CodedError<string>>(
    prepare: () => () => Started,
    complete: (started: Started, keyId: string) => Promise<Result<T, E>>,
  ): ResultAsync<T & Charged, WithQuota<E | AdmissionError>> => {
    let charged: ChargedKey | undefined;
    const call = async (): Promise<Result<T & Charged, WithQuota<E | AdmissionError>>> => {
      const admitted = await admitRequest(prepare());
      if (admitted.isErr()) return err(admitted.error);
      const [key, started] = admitted.value;
      charged = key;
      return chargedResult(await complete(started, key.keyId), key);
    };
    return calls.run(call, (error) => withCharge(error, charged ?? anonymous()));
  };

  return Object.assign(operationsOf<WithQuota<AdmissionError>, Charged>(context, perform), {
    admit: () =>
      calls.run(
        async () =>
          (await admitRequest(() => undefined)).map(([charged]) =>
            createAdmission(context, calls, charged),
          ),
        (error) => withCharge(error, anonymous()),
      ),
  });
}

function createAdmission(context: Context, calls: Calls, charged: ChargedKey): Admission {
  const perform: Perform<never, Charged> = (prepare, complete) =>
    calls.run(
      async () => chargedResult(await complete(prepare()(), charged.keyId), charged),
      (error) => withCharge(error, charged),
    );
  return Object.assign(operationsOf(context, perform), charged);
}

function chargedResult<T extends object, E extends CodedError<string>>(
  result: Result<T, E>,
  charged: ChargedKey,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr()
    ? err(withCharge(result.error, charged))
    : ok(withCharge(result.value, charged));
}

export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  const perform: Perform<never, unknown> = (prepare, complete) =>
    calls.run(
      () => complete(prepare()()),
      (error) => error,
    );
  return Object.freeze(operationsOf(context, perform));
}
