import { err, ok, type Result } from "neverthrow";
import {
  invalidApiKey,
  missingApiKey,
  storageUnavailable,
  type AdmissionError,
  type InvalidApiKey,
  type MissingApiKey,
  type WithQuota,
} from "../errors.js";
import { isAccepted, type Credential } from "../keys/credential.js";
import type { Tell } from "../events/events.js";
import type { AnonymousBuckets } from "../limits/anonymous.js";
import type { BanRule } from "../limits/ban.js";
import { charge, type Refused, type Verdict } from "../limits/charge.js";
import { limitsOf, type Plans } from "../limits/plan.js";
import type { Quota } from "../limits/quota.js";
import type { Timekeeper } from "../limits/reading.js";
import { refusalOf } from "../limits/refusal.js";
import type { Usage } from "../limits/usage.js";
import { askStorage } from "../storage/guard-storage.js";
import type { Decide } from "../storage/step.js";
import type { StorageFailure } from "../storage/storage-failure.js";
import type { KeyHolder, UsageStorage } from "../storage/usage-storage.js";

/** What admission works with. */
export interface AdmissionParts {
  /** As the host gave it: whatever it throws is answered. */
  readonly usage: UsageStorage;
  readonly anonymous: AnonymousBuckets;
  readonly plans: Plans;
  readonly ban: BanRule | undefined;
  readonly tell: Tell;
  readonly read: Timekeeper;
}

/** Who was admitted, and what is left to that key. */
export interface Admitted {
  readonly keyId: string;
  readonly quota: Quota;
}

/**
 * Authenticates and takes one token (specification, "Authentication" and "Limits"). A request
 * without a valid key takes it from the bucket of its origin, and a refused one takes none.
 */
export function admit<T>(
  parts: AdmissionParts,
  credential: Credential,
  origin: string | undefined,
  welcome: (admitted: Admitted) => T,
): Promise<Result<T, WithQuota<AdmissionError>>> {
  const { usage, plans, ban, read } = parts;
  if (credential.kind === "missing") {
    return Promise.resolve(err(turnAway(parts, missingApiKey(), origin)));
  }
  if (credential.kind === "malformed") {
    return Promise.resolve(err(turnAway(parts, invalidApiKey(), origin)));
  }

  const decide: Decide<KeyHolder | undefined, Usage, Charge> = (holder) => {
    const reading = read();
    if (holder === undefined || !isAccepted(holder, reading.now)) return { result: undefined };
    const terms = { limits: limitsOf(holder.key, plans), ban };
    const outcome = charge(holder.usage, terms, reading);
    const result = { keyId: holder.key.id, verdict: outcome.verdict, now: reading.now };
    return { next: outcome.usage, result };
  };
  return askStorage(
    () => usage.charge(credential.digest, decide),
    (charged) => conclude(parts, charged, origin, welcome),
  );
}

/** What a key was charged; `undefined` when there is no such key, or it is not accepted. */
type Charge =
  { readonly keyId: string; readonly verdict: Verdict; readonly now: number } | undefined;

function conclude<T>(
  parts: AdmissionParts,
  charged: Result<Charge, StorageFailure>,
  origin: string | undefined,
  welcome: (admitted: Admitted) => T,
): Result<T, WithQuota<AdmissionError>> {
  if (charged.isErr()) {
    return err({ ...storageUnavailable(charged.error), quota: parts.anonymous.peek(origin) });
  }
  if (charged.value === undefined) return err(turnAway(parts, invalidApiKey(), origin));

  const { keyId, verdict, now } = charged.value;
  return verdict.kind === "admitted"
    ? ok(welcome({ keyId, quota: verdict.quota }))
    : err(refuse(parts, verdict, now, { keyId }));
}

/** A request without a valid key: its 401, or 429 when the bucket of its origin is empty. */
function turnAway(
  parts: AdmissionParts,
  reason: MissingApiKey | InvalidApiKey,
  origin: string | undefined,
): WithQuota<AdmissionError> {
  const { verdict, now } = parts.anonymous.charge(origin);
  return verdict.kind === "admitted"
    ? { ...reason, quota: verdict.quota }
    : refuse(parts, verdict, now, { origin });
}

/** A request over a limit, or of a banned key; tells the host. */
function refuse(
  { tell }: AdmissionParts,
  verdict: Refused,
  now: number,
  { keyId, origin }: { readonly keyId?: string; readonly origin?: string | undefined },
): WithQuota<AdmissionError> {
  const { quota } = verdict;
  if (verdict.kind === "refused") {
    const { window } = verdict;
    tell(() => ({ type: "limit_exceeded", at: now, keyId, origin, window, limit: quota.limit }));
  } else if (verdict.begins && keyId !== undefined) {
    tell(() => ({ type: "key_banned", at: now, keyId, until: verdict.until }));
  }
  return { ...refusalOf(verdict, now), quota };
}
