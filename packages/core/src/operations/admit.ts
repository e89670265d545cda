import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  apiKeyBanned,
  invalidApiKey,
  rateLimitExceeded,
  storageUnavailable,
  type AdmissionError,
  type InvalidApiKeyError,
  type MissingApiKeyError,
  type WithQuota,
} from "../errors.js";
import { hasEnded, hasExpired, type StoredApiKey } from "../keys/api-key.js";
import { charge, type Refusal } from "../limits/charge.js";
import { limitsOf } from "../limits/plan.js";
import type { Usage } from "../limits/usage.js";
import { withQuota, type ChargedKey } from "../limits/charged.js";
import type { Decided, PresentedKey } from "../storage/storage.js";

/** A request that was charged, and what was started for it. */
export interface Admitted<T> {
  readonly charged: ChargedKey;
  readonly started: T;
}

/**
 * Authenticates a request and takes one token (specification, "Authentication" and "Limits"). A request
 * without a valid key takes the token from the bucket of its client address. A refused request takes none.
 *
 * @param start called for an admitted request while it is being charged, so that a storage can run what it reads in
 *   the same transaction. It may be called again; only the last call counts.
 */
export async function admit<T>(
  context: Context,
  digest: Result<string, MissingApiKeyError | InvalidApiKeyError>,
  clientAddress: string | undefined,
  start: () => T,
): Promise<Result<Admitted<T>, WithQuota<AdmissionError>>> {
  const { storage, anonymous, readClock } = context;
  if (digest.isErr()) return err(chargeClientAddress(context, digest.error, clientAddress));

  // A charge takes the storage's write lock: made-up keys of a client address that is refused must not take it.
  if (anonymous.isEmpty(clientAddress)) {
    const found = await storage.usage.findByDigest(digest.value);
    if (found.isErr()) return err(unavailable(context, found.error, clientAddress));
    if (!isAccepted(found.value, readClock().now)) {
      return err(chargeClientAddress(context, invalidApiKey(), clientAddress));
    }
  }
  const charged = await storage.usage.charge(digest.value, (presented) =>
    chargeKey(context, presented, start),
  );
  if (charged.isErr()) return err(unavailable(context, charged.error, clientAddress));
  if (charged.value === undefined)
    return err(chargeClientAddress(context, invalidApiKey(), clientAddress));
  return charged.value.mapErr(({ key, refusal, now }) =>
    refuse(context, refusal, now, key, undefined),
  );
}

interface RefusedKey {
  readonly key: Pick<StoredApiKey, "id" | "plan">;
  readonly refusal: Refusal;
  /** The time of the refusal, in milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Charges the key of a presented secret; the result is `undefined` if it is not accepted. */
function chargeKey<T>(
  { plans, ban, checkPlan, readClock }: Context,
  presented: PresentedKey | undefined,
  start: () => T,
): Decided<Usage, Result<Admitted<T>, RefusedKey> | undefined> {
  const reading = readClock();
  const { now } = reading;
  if (!isAccepted(presented, now)) return { result: undefined };
  checkPlan(presented.key);
  const rules = { limits: limitsOf(presented.key, plans), ban };
  const { usage, verdict } = charge(presented.usage, rules, reading);
  const { key } = presented;
  if (verdict.kind !== "admitted") {
    return { next: usage, result: err({ key, refusal: verdict, now }) };
  }
  const charged = { quota: verdict.quota, keyId: key.id, plan: key.plan };
  return { next: usage, result: ok({ charged, started: start() }) };
}

function isAccepted(presented: PresentedKey | undefined, now: number): presented is PresentedKey {
  return (
    presented !== undefined &&
    !hasEnded(presented.key, now) &&
    !hasExpired(presented.secretExpiresAt, now)
  );
}

function unavailable(
  { anonymous }: Context,
  cause: unknown,
  clientAddress: string | undefined,
): WithQuota<AdmissionError> {
  return withQuota(storageUnavailable(cause), anonymous.peek(clientAddress));
}

/** Charges a request without a valid key to its client address. Returns `error`, or a refusal if the bucket is empty. */
function chargeClientAddress(
  context: Context,
  error: MissingApiKeyError | InvalidApiKeyError,
  clientAddress: string | undefined,
): WithQuota<AdmissionError> {
  const { verdict, now } = context.anonymous.charge(clientAddress);
  if (verdict.kind !== "admitted") return refuse(context, verdict, now, undefined, clientAddress);
  return withQuota(error, verdict.quota);
}

function refuse(
  { emit, bans }: Context,
  refusal: Refusal,
  now: number,
  key: Pick<StoredApiKey, "id" | "plan"> | undefined,
  clientAddress: string | undefined,
): WithQuota<AdmissionError> {
  const { quota, until } = refusal;
  const retryAfterSeconds = Math.max(1, Math.ceil((until - now) / 1_000));
  if (refusal.kind === "refused") {
    const { window } = refusal;
    const { limit } = quota;
    emit({ type: "rate_limit_exceeded", at: now, keyId: key?.id, clientAddress, window, limit });
    return withQuota(rateLimitExceeded(limit, window, retryAfterSeconds), quota, key?.plan);
  }
  if (refusal.begins && key !== undefined) {
    emit({ type: "key_banned", at: now, keyId: key.id, until });
    bans.publish({ plan: key.plan, milliseconds: refusal.banEnd - now });
  }
  return withQuota(apiKeyBanned(retryAfterSeconds), quota, key?.plan);
}
