import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import { keyNotFound, type KeyError } from "../errors.js";
import { deepFrozen } from "../events/events.js";
import { standingOf } from "../limits/charge.js";
import { limitsOf } from "../limits/plan.js";
import { NO_USAGE } from "../limits/usage.js";
import { onlyLimited } from "../limits/windows.js";
import { read } from "../storage/outcomes.js";
import type { KeyWithUsage } from "../storage/storage.js";
import { parseApiKey } from "./key-format.js";
import { parseKeyQuery, type ListKeysInput } from "./key-requests.js";
import type { ApiKey } from "./api-key.js";

/** One page of keys, in the order of issue. A short page of banned keys may still have a `next`. */
export interface KeyPage {
  readonly keys: readonly ApiKey[];
  /** The id to pass as `after` for the next page; `undefined` on the last page. */
  readonly next: string | undefined;
}

export type KeyResult<T> = Promise<Result<T, KeyError>>;

export async function findKey(context: Context, id: string): KeyResult<ApiKey> {
  return (await loadKey(context, id)).map((stored) => viewOf(context, stored));
}

export async function findKeyBySecret(context: Context, secret: string): KeyResult<ApiKey> {
  const digest = parseApiKey(secret);
  if (digest.isErr()) return err(keyNotFound("secret"));
  const id = await read(
    () => context.storage.usage.findByDigest(digest.value),
    (presented) => (presented === undefined ? err(keyNotFound("secret")) : ok(presented.key.id)),
  );
  return id.isErr() ? err(id.error) : findKey(context, id.value);
}

export async function listKeys(context: Context, input: ListKeysInput): KeyResult<KeyPage> {
  const query = parseKeyQuery(input);
  if (query.isErr()) return err(query.error);
  const { limit, after, banned } = query.value;

  // One key more than the page holds, to see whether there is a next page.
  const list = () => context.storage.keys.list({ limit: limit + 1, after, banned });
  return read(list, (found) => {
    const page = found.slice(0, limit);
    const keys = page.map((stored) => viewOf(context, stored));
    return ok({
      keys: banned ? keys.filter((key) => key.bannedUntil !== undefined) : keys,
      next: found.length > limit ? page.at(-1)?.key.id : undefined,
    });
  });
}

/** Finds a stored key; `key_not_found` if there is none. */
export async function loadKey({ storage }: Context, id: string): KeyResult<KeyWithUsage> {
  if (typeof id !== "string") return err(keyNotFound());
  return read(
    () => storage.keys.find(id),
    (found) => (found === undefined ? err(keyNotFound()) : ok(found)),
  );
}

/** Returns a stored key as its host sees it now. */
export function viewOf({ plans, ban, readClock }: Context, { key, usage }: KeyWithUsage): ApiKey {
  const limits = limitsOf(key, plans);
  const { bannedUntil, quotas } = standingOf(usage, { limits, ban }, readClock());
  return deepFrozen({
    id: key.id,
    hint: key.secrets[0]?.hint ?? "",
    secrets: key.secrets.map(({ hint, expiresAt }) => ({ hint, expiresAt })),
    plan: key.plan,
    limits,
    label: key.label,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    revokedAt: key.revokedAt,
    lastUsedAt: usage.lastUsedAt === NO_USAGE.lastUsedAt ? undefined : usage.lastUsedAt,
    bannedUntil,
    usage: onlyLimited(quotas),
  });
}
