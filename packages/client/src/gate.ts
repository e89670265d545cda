import type { WithQuota } from "@petstore/core";
import type { WindowQuota } from "@petstore/core/facts";
import { withSeconds, type LimitError, type UnexpectedResponseError } from "./errors.js";

/** How many requests may be in flight; `queue.ts` carries it out. Times are milliseconds of the client's clock. */
export interface Gate {
  /** How many requests were sent so far. The last one has this number. */
  readonly sent: number;
  readonly inFlight: number;
  /** The quota in the newest response; `resetAt` is a time of the server's clock. `undefined` before the first. */
  readonly newest: (WindowQuota & Pick<Ended, "number">) | undefined;
  /** Until this time, the server has said, or its limit implies, that it refuses requests. */
  readonly opensAt: number;
  /** No request is sent before this time. Then one asks, if it is before `opensAt`: the plan may have been raised. */
  readonly asksAt: number;
  /** The refusal that has closed it; `undefined` if none has. */
  readonly closedBy: Refusal | undefined;
  /** How many times in a row the gate was closed by a 429. */
  readonly refusals: number;
  /** `sent` when the last of these refusals arrived: requests up to this number do not count again. */
  readonly sentWhenRefused: number;
}

export interface Ended {
  readonly number: number;
  /** The quota in its response; `undefined` if there is none. */
  readonly quota: WindowQuota | undefined;
  /** How long this window still lasts; negative if it has ended. */
  readonly resetIn: number;
  /** The wait after a 429: its `Retry-After` (0 if it has none), and a random addition. */
  readonly wait: { readonly retryAfter: number; readonly jitter: number } | undefined;
  /** What waiting calls get if it closes the gate. */
  readonly refusal?: Refusal | undefined;
}

/** Why the gate is closed. Calls that cannot wait get this error. */
export type Refusal = WithQuota<LimitError> | UnexpectedResponseError;

/** The gate of a new client: no request was sent, and nothing is known about the limits. */
export const OPEN: Gate = {
  sent: 0,
  inFlight: 0,
  newest: undefined,
  opensAt: 0,
  asksAt: 0,
  closedBy: undefined,
  refusals: 0,
  sentWhenRefused: 0,
};

/** The first wait after a 429 without a longer Retry-After. It doubles with each further refusal, up to the longest. */
const FIRST_BACKOFF = 1_000;
const LONGEST_BACKOFF = 60_000;

/**
 * After an hour without a request, one asks whether the limit still holds. With each refusal in a row, the time is eight
 * times as long: two in a day do not ban a key of one request a minute.
 */
const FIRST_SILENCE = 3_600_000;

/**
 * Whether one more request may be sent. While nothing is known about the limits, and after the gate was closed, one
 * goes alone. Then at most `maxInFlight` are in flight, and at most as many as remain by the newest response.
 */
export function isOpen(gate: Gate, maxInFlight: number, now: number): boolean {
  if (now < gate.asksAt) return false;
  const remaining = gate.newest?.remaining ?? 0;
  const goesAlone = remaining === 0 || gate.refusals > 0;
  return gate.inFlight < (goesAlone ? 1 : Math.min(maxInFlight, remaining));
}

export function afterSending(gate: Gate): Gate {
  return { ...gate, sent: gate.sent + 1, inFlight: gate.inFlight + 1 };
}

/** If nothing remains, the gate closes until the window ends; a 429 closes it for its Retry-After or the backoff. */
export function afterEnding(gate: Gate, ended: Ended, now: number): Gate {
  const next = withEnding(gate, ended, now);
  // A response that says less than an earlier one does not postpone the question.
  if (next.opensAt === gate.opensAt && now < gate.asksAt) return next;
  const asksAt = Math.min(next.opensAt, now + FIRST_SILENCE * 8 ** next.refusals);
  return { ...next, asksAt, closedBy: asksAt > gate.asksAt ? ended.refusal : gate.closedBy };
}

/** Returns the error of a call whose deadline comes before the gate opens; `undefined` if the call can wait. */
export function refusalFor(gate: Gate, deadline: number, now: number): Refusal | undefined {
  const { opensAt, asksAt, closedBy } = gate;
  if (closedBy === undefined || asksAt <= now || deadline > asksAt) return undefined;
  if (closedBy.code === "unexpected_response") return closedBy;
  return withSeconds(closedBy, Math.ceil((opensAt - now) / 1_000));
}

function withEnding(gate: Gate, ended: Ended, now: number): Gate {
  const { number, wait } = ended;
  const next = withQuota({ ...gate, inFlight: gate.inFlight - 1 }, ended, now);
  // A request that was sent before the last refusal says nothing about the time after it.
  const isLater = number > gate.sentWhenRefused;
  if (wait === undefined) {
    return isLater && ended.quota !== undefined ? { ...next, refusals: 0 } : next;
  }
  const refusals = gate.refusals + (isLater ? 1 : 0);
  const backoff = Math.min(FIRST_BACKOFF * 2 ** (refusals - 1), LONGEST_BACKOFF);
  const opensAt = now + Math.max(wait.retryAfter, backoff) + wait.jitter;
  return {
    ...next,
    refusals,
    sentWhenRefused: isLater ? gate.sent : gate.sentWhenRefused,
    opensAt: Math.max(gate.opensAt, opensAt),
  };
}

function withQuota(gate: Gate, { number, quota, resetIn }: Ended, now: number): Gate {
  if (quota === undefined) return gate;
  const { newest } = gate;
  const isSameWindow = quota.resetAt === newest?.resetAt && quota.limit === newest.limit;
  // Responses overtake each other. Within a window, the fewest left is the newest.
  if (newest !== undefined && number < newest.number && !isSameWindow) return gate;
  const remaining = isSameWindow ? Math.min(quota.remaining, newest.remaining) : quota.remaining;
  const opensAt = remaining === 0 ? Math.max(gate.opensAt, now + resetIn) : gate.opensAt;
  const latest = Math.max(number, newest?.number ?? 0);
  return { ...gate, opensAt, newest: { ...quota, remaining, number: latest } };
}
