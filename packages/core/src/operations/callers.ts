import { err, ok, type Result, type ResultAsync } from "neverthrow";
import type { Context } from "../context.js";
import { apiKeyBanned, invalidApiKey, rateLimitExceeded, storageUnavailable } from "../errors.js";
import type { AdmissionError, CodedError, KeylessError, WithQuota } from "../errors.js";
import { hasEnded, hasExpired } from "../keys/api-key.js";
import { parseApiKey } from "../keys/key-format.js";
import { charge, type Verdict } from "../limits/charge.js";
import { limitsOf } from "../limits/plan.js";
import { withCharge, type Charged } from "../limits/quota.js";
import type { Usage } from "../limits/usage.js";
import type { Decided, PresentedKey } from "../storage/storage.js";
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

/** The key that a request was charged to, and its quota afterwards. */
type ChargedKey = Charged & { readonly keyId: string; readonly plan: string };

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

/** Adds the charge to the value, which is new for each call, or to a copy of the error. */
function chargedResult<T extends object, E extends CodedError<string>>(
  result: Result<T, E>,
  charged: ChargedKey,
): Result<T & Charged, WithQuota<E>> {
  return result.isErr()
    ? err(withCharge(result.error, charged))
    : ok(Object.assign(result.value, charged));
}

export function createTrustedPets(context: Context, calls: Calls): TrustedPets {
  const perform: Perform<never, unknown> = (prepare, complete) =>
    calls.run(
      () => complete(prepare()()),
      (error) => error,
    );
  return Object.freeze(operationsOf(context, perform));
}

/**
 * Authenticates a request and takes one token (specification, "Authentication" and "Limits"). A request
 * without a valid key takes the token from the bucket of its client address. A refused request takes none.
 *
 * @param start called for an admitted request while it is being charged, so that a storage can run what it reads in
 *   the same transaction. It may be called again; only the last call counts. Its value is part of the result.
 */
async function admit<T>(
  context: Context,
  digest: Result<string, KeylessError>,
  clientAddress: string | undefined,
  start: () => T,
): Promise<Result<readonly [ChargedKey, T], WithQuota<AdmissionError>>> {
  const { storage, anonymous, readClock } = context;
  if (digest.isErr()) return chargeKeyless(context, clientAddress, digest.error);

  // A charge takes the storage's write lock: made-up keys of a client address that is refused must not take it.
  if (anonymous.isEmpty(clientAddress)) {
    const found = await storage.usage.findByDigest(digest.value);
    if (found.isErr()) return failed(context, clientAddress, found.error);
    if (!isAccepted(found.value, readClock().now))
      return chargeKeyless(context, clientAddress, invalidApiKey());
  }
  const charged = await storage.usage.charge(digest.value, (presented) =>
    chargeKey(context, presented, start),
  );
  if (charged.isErr()) return failed(context, clientAddress, charged.error);
  if (charged.value === undefined) return chargeKeyless(context, clientAddress, invalidApiKey());
  return charged.value.mapErr((refuseKey) => refuseKey());
}

function chargeKeyless(context: Context, clientAddress: string | undefined, error: KeylessError) {
  const { verdict, now } = context.anonymous.charge(clientAddress);
  if (verdict.kind !== "admitted") return err(refuse(context, verdict, now, { clientAddress }));
  return err(withCharge(error, { quota: verdict.quota }));
}

function failed({ anonymous }: Context, clientAddress: string | undefined, cause: unknown) {
  return err(withCharge(storageUnavailable(cause), { quota: anonymous.peek(clientAddress) }));
}

/** Charges the key of a presented secret. The result is `undefined` if the secret is not accepted. */
function chargeKey<T>(
  context: Context,
  presented: PresentedKey | undefined,
  start: () => T,
): Decided<Usage, Result<readonly [ChargedKey, T], () => WithQuota<AdmissionError>> | undefined> {
  const { plans, ban, checkPlan, readClock } = context;
  const reading = readClock();
  if (!isAccepted(presented, reading.now)) return { result: undefined };
  const { key } = presented;
  checkPlan(key);
  const rules = { limits: limitsOf(key, plans), ban };
  const { usage, verdict } = charge(presented.usage, rules, reading);
  if (verdict.kind !== "admitted") {
    return { next: usage, result: err(() => refuse(context, verdict, reading.now, { key })) };
  }
  const charged = { quota: verdict.quota, keyId: key.id, plan: key.plan };
  return { next: usage, result: ok([charged, start()] as const) };
}

function isAccepted(presented: PresentedKey | undefined, now: number): presented is PresentedKey {
  return (
    presented !== undefined &&
    !hasEnded(presented.key, now) &&
    !hasExpired(presented.secretExpiresAt, now)
  );
}

function refuse(
  { emit, bans }: Context,
  verdict: Exclude<Verdict, { readonly kind: "admitted" }>,
  now: number,
  { key, clientAddress }: { key?: PresentedKey["key"]; clientAddress?: string | undefined },
): WithQuota<AdmissionError> {
  const { quota, until } = verdict;
  const charged = key === undefined ? { quota } : { quota, plan: key.plan };
  const retryAfterSeconds = Math.ceil((until - now) / 1_000);
  if (verdict.kind === "refused") {
    const { limit, window } = quota;
    emit({ type: "rate_limit_exceeded", keyId: key?.id, clientAddress, window, limit }, now);
    return withCharge(rateLimitExceeded(limit, window, retryAfterSeconds), charged);
  }
  if (verdict.begins && key !== undefined) {
    emit({ type: "key_banned", keyId: key.id, until }, now);
    bans.publish({ plan: key.plan, milliseconds: verdict.banEnd - now });
  }
  return withCharge(apiKeyBanned(retryAfterSeconds), charged);
}
