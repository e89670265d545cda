/** Two limits that hold at once. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** What a process knows of the time: its clock, and the latest that it ever showed there. */
export interface Moment {
  readonly now: number;
  readonly seen: number;
  /** What it showed first after it was last set back. */
  readonly landed: number;
}

/** The expected outcome of a request. */
export type Outcome =
  | { readonly code: "ok"; readonly remaining: number; readonly resetAt: number }
  | { readonly code: "invalid_api_key" }
  | {
      readonly code: "rate_limit_exceeded" | "api_key_banned";
      readonly retryAfterSeconds: number;
      readonly resetAt: number;
    };

/** A window: since when, and how much was taken. */
export interface Span {
  readonly length: number;
  from: number;
  used: number;
}

/** The model of a key, as the design describes it. The engine is compared with it. */
export interface ReferenceKey {
  plan: string;
  limits: Limits;
  readonly minute: Span;
  readonly day: Span;
  refusedSince: number;
  refusals: number;
  bans: number;
  bannedAt: number;
  lastUsedAt: number | undefined;
  revoked: boolean;
  readonly expiresAt: number;
  /** Until when each secret ever given out is accepted; the newest last. */
  readonly secretsUntil: number[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function createReferenceKey(limits: Limits, expiresAt: number): ReferenceKey {
  return {
    plan: "enterprise",
    limits,
    minute: { length: MINUTE, from: 0, used: 0 },
    day: { length: DAY, from: 0, used: 0 },
    refusedSince: 0,
    refusals: 0,
    bans: 0,
    bannedAt: 0,
    lastUsedAt: undefined,
    revoked: false,
    expiresAt,
    secretsUntil: [Infinity],
  };
}

/** A request with one of the key's secrets, as the design's tables have it. */
export function expectedOutcome(key: ReferenceKey, secret: number, moment: Moment): Outcome {
  const { now } = moment;
  const until = Math.min(key.secretsUntil[secret] ?? 0, key.expiresAt);
  if (key.revoked || now >= until) return { code: "invalid_api_key" };
  settle(key, moment);
  const { limits, minute, day } = key;

  // "A ban lasts 1 minute, doubling with each further one up to 1 hour."
  if (now < banEnd(key)) return refusal("api_key_banned", Math.max(banEnd(key), free(key)), now);
  // "Minute and day, taken together or not at all."
  if (free(key) === 0) {
    for (const window of [minute, day]) window.used += 1;
    Object.assign(key, { refusedSince: 0, refusals: 0, lastUsedAt: now });
    return { code: "ok", ...left(key) };
  }
  // "A refusal counts only when it comes more than a second after the first of its row."
  key.refusedSince = key.refusedSince === 0 ? now : begun(key.refusedSince, SECOND, moment);
  if (now - key.refusedSince <= SECOND) return refusal("rate_limit_exceeded", free(key), now);
  // "After as many ignored refusals in a row as its per-minute limit."
  key.refusals += 1;
  if (key.refusals <= limits.perMinute) return refusal("rate_limit_exceeded", free(key), now);
  Object.assign(key, { refusedSince: 0, refusals: 0, bans: key.bans + 1, bannedAt: now });
  return refusal("api_key_banned", Math.max(banEnd(key), free(key)), now);
}

/** Returns the usage that the host sees. Reading it changes nothing. */
export function look(key: ReferenceKey, moment: Moment) {
  const seen = structuredClone(key);
  settle(seen, moment);
  const end = banEnd(seen);
  return {
    plan: seen.plan,
    limits: seen.limits,
    lastUsedAt: seen.lastUsedAt,
    bannedUntil: moment.now < end ? end : undefined,
    usage: {
      minute: quota(seen.minute, seen.limits.perMinute),
      day: quota(seen.day, seen.limits.perDay),
    },
  };
}

/** A new secret: those before it end after the overlap, if not earlier, and never come back. */
export function rotate(key: ReferenceKey, overlap: number, now: number): boolean {
  if (key.revoked || now >= key.expiresAt) return false;
  key.secretsUntil.forEach((until, index) => {
    const ends = Math.min(until, now + overlap);
    key.secretsUntil[index] = ends <= now ? 0 : ends;
  });
  key.secretsUntil.push(Infinity);
  return true;
}

/** Replaces windows that have ended, and corrects those that start in the future of a clock set back. */
function settle(key: ReferenceKey, moment: Moment): void {
  const { now } = moment;
  for (const window of [key.minute, key.day]) {
    window.from = begun(window.from, window.length, moment);
    if (window.used === 0 || now >= window.from + window.length) {
      Object.assign(window, { from: now, used: 0 });
    }
  }
  key.bannedAt = begun(key.bannedAt, banLength(key), moment);
  // "Forgotten after a day of good behaviour."
  if (now >= banEnd(key) + DAY) key.bans = 0;
}

/**
 * "If another process's clock is a little ahead, its word holds", also where this one has been, once
 * all that began there has ended; any other future was set back.
 */
function begun(at: number, length: number, { now, seen, landed }: Moment): number {
  if (at <= now) return at;
  const isNear = at <= now + 10 * SECOND;
  if (at <= seen) return isNear && now >= landed + length ? at : landed;
  return isNear ? at : now;
}

function banEnd(key: ReferenceKey): number {
  return key.bans === 0 ? 0 : key.bannedAt + banLength(key);
}

function banLength({ bans }: ReferenceKey): number {
  return Math.min(2 ** (bans - 1) * MINUTE, HOUR);
}

/** When both windows have room again; 0 when they have. */
function free({ limits, minute, day }: ReferenceKey): number {
  const minuteFull = minute.used >= limits.perMinute ? minute.from + MINUTE : 0;
  const dayFull = day.used >= limits.perDay ? day.from + DAY : 0;
  return Math.max(minuteFull, dayFull);
}

function refusal(code: "rate_limit_exceeded" | "api_key_banned", until: number, now: number) {
  return { code, retryAfterSeconds: Math.ceil((until - now) / SECOND), resetAt: until };
}

/** "The bucket with the fewest tokens left (a tie: the later reset)." */
function left({ limits, minute, day }: ReferenceKey) {
  const [fewest = { remaining: 0, resetAt: 0 }] = [
    quota(minute, limits.perMinute),
    quota(day, limits.perDay),
  ].sort((one, other) => one.remaining - other.remaining || other.resetAt - one.resetAt);
  return { remaining: fewest.remaining, resetAt: fewest.resetAt };
}

function quota({ from, used, length }: Span, limit: number) {
  return { limit, remaining: Math.max(0, limit - used), resetAt: from + length };
}
