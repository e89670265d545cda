import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import {
  changeFailed,
  keyInactive,
  keyNotFound,
  storageUnavailable,
  type KeyError,
  type KeyInactive,
  type KeyNotFound,
  type StorageUnavailable,
} from "../errors.js";
import { NO_USAGE } from "../limits/usage.js";
import type { KeyWithUsage } from "../storage/storage.js";
import { mintSecret } from "./key-format.js";
import {
  parseAge,
  parseKeyRequest,
  parseOverlap,
  parsePlanChoice,
  type IssueKeyInput,
  type PlanInput,
  type PurgeKeysOptions,
  type RotateKeyOptions,
} from "./key-requests.js";
import { loadKey, viewOf } from "./read-keys.js";
import {
  hasEndedBefore,
  hasExpired,
  rotatedKey,
  storedSecret,
  type ApiKey,
  type StoredApiKey,
} from "./api-key.js";

/** A key that was just issued or rotated. */
export interface IssuedKey {
  /** The bearer token for the client. It cannot be read again: only its digest is stored. */
  readonly secret: string;
  readonly key: ApiKey;
}

/** How many keys were purged. */
export interface PurgedKeys {
  readonly purged: number;
}

/** Issues a key. See `KeyRing.issue`. */
export async function issueKey(
  context: Context,
  input: IssueKeyInput,
): Promise<Result<IssuedKey, KeyError>> {
  const { storage, plans, random, newKeyId, readClock } = context;
  const { now } = readClock();
  const request = parseKeyRequest(input, plans, now);
  if (request.isErr()) return err(request.error);

  const secret = mintSecret(random);
  const key: StoredApiKey = {
    ...request.value,
    id: newKeyId(now),
    createdAt: now,
    revokedAt: undefined,
    secrets: [storedSecret(secret)],
  };
  const inserted = await storage.keys.insert(key);
  if (inserted.isErr()) return err(changeFailed(inserted.error));
  return ok({ secret, key: emitKeyEvent(context, "key_issued", { key, usage: NO_USAGE }) });
}

/** Revokes a key. See `KeyRing.revoke`. */
export async function revokeKey(context: Context, id: string): Promise<Result<ApiKey, KeyError>> {
  const { now } = context.readClock();
  const changed = await changeKey(context, id, (key) =>
    ok(key.revokedAt === undefined ? { ...key, revokedAt: now } : key),
  );
  if (changed.isErr()) return err(changed.error);
  const { before, after } = changed.value;
  return ok(
    before.revokedAt === undefined
      ? emitKeyEvent(context, "key_revoked", after)
      : viewOf(context, after),
  );
}

/** Adds a new secret to a key. See `KeyRing.rotate`. */
export async function rotateKey(
  context: Context,
  id: string,
  options: RotateKeyOptions,
): Promise<Result<IssuedKey, KeyError>> {
  const overlap = parseOverlap(options);
  if (overlap.isErr()) return err(overlap.error);

  const { now } = context.readClock();
  const secret = mintSecret(context.random);
  const changed = await changeKey(context, id, (key) => {
    if (key.revokedAt !== undefined || hasExpired(key.expiresAt, now)) return err(keyInactive());
    return ok(rotatedKey(key, storedSecret(secret), now + overlap.value, now));
  });
  if (changed.isErr()) return err(changed.error);
  return ok({ secret, key: emitKeyEvent(context, "key_rotated", changed.value.after) });
}

/** Moves a key to another plan. See `KeyRing.changePlan`. */
export async function changePlan(
  context: Context,
  id: string,
  to: PlanInput,
): Promise<Result<ApiKey, KeyError>> {
  const choice = parsePlanChoice(to, context.plans);
  if (choice.isErr()) return err(choice.error);
  const changed = await changeKey(context, id, (key) => ok({ ...key, ...choice.value }));
  if (changed.isErr()) return err(changed.error);
  return ok(emitKeyEvent(context, "plan_changed", changed.value.after));
}

/** Ends the ban of a key. See `KeyRing.liftBan`. */
export async function liftBan(context: Context, id: string): Promise<Result<ApiKey, KeyError>> {
  const found = await loadKey(context, id);
  if (found.isErr()) return err(found.error);
  const { key } = found.value;

  const lifted = await context.storage.usage.update(id, (before) => {
    if (before === undefined) return { result: undefined };
    const after = { ...before, bans: 0, bannedAt: 0, refusedSince: 0, refusals: 0 };
    return { next: after, result: { before, after } };
  });
  if (lifted.isErr()) return err(changeFailed(lifted.error));
  if (lifted.value === undefined) return err(keyNotFound());
  const after = { key, usage: lifted.value.after };
  const { bannedUntil: endsAt } = viewOf(context, { key, usage: lifted.value.before });
  return ok(
    endsAt === undefined ? viewOf(context, after) : emitKeyEvent(context, "ban_lifted", after),
  );
}

/** How many keys a purge looks at, and removes at most, before other calls run. */
const PURGE_BATCH = 100;

/** Removes keys that ended long ago. See `KeyRing.purge`. */
export async function purgeKeys(
  { storage, readClock }: Context,
  options: PurgeKeysOptions,
): Promise<Result<PurgedKeys, KeyError>> {
  const age = parseAge(options);
  if (age.isErr()) return err(age.error);
  const time = readClock().now - age.value;

  let purged = 0;
  let after: string | undefined;
  do {
    const page = await storage.keys.list({ limit: PURGE_BATCH, after, banned: false });
    if (page.isErr()) return err(storageUnavailable(page.error));
    // A key that has ended is never valid again, so it can be removed in another transaction.
    const ended = page.value.filter(({ key }) => hasEndedBefore(key, time));
    if (ended.length > 0) {
      const removed = await storage.keys.remove(ended.map(({ key }) => key.id));
      if (removed.isErr()) return err(changeFailed(removed.error));
      purged += removed.value;
    }
    after = page.value.at(-1)?.key.id;
  } while (after !== undefined);
  return ok({ purged });
}

interface ChangedKey {
  readonly before: StoredApiKey;
  readonly after: KeyWithUsage;
}

/** Changes a key. Its usage is loaded first, so that nothing can fail after the change. */
async function changeKey(
  context: Context,
  id: string,
  change: (key: StoredApiKey) => Result<StoredApiKey, KeyInactive>,
): Promise<Result<ChangedKey, KeyNotFound | KeyInactive | StorageUnavailable>> {
  const found = await loadKey(context, id);
  if (found.isErr()) return err(found.error);
  const { usage } = found.value;

  const changed = await context.storage.keys.update<Result<ChangedKey, KeyNotFound | KeyInactive>>(
    id,
    (before) => {
      if (before === undefined) return { result: err(keyNotFound()) };
      const next = change(before);
      if (next.isErr()) return { result: err(next.error) };
      return { next: next.value, result: ok({ before, after: { key: next.value, usage } }) };
    },
  );
  return changed.isErr() ? err(changeFailed(changed.error)) : changed.value;
}

/** Emits an event of a key and returns the key as the host sees it. */
function emitKeyEvent(
  context: Context,
  type: "key_issued" | "key_revoked" | "key_rotated" | "plan_changed" | "ban_lifted",
  stored: KeyWithUsage,
): ApiKey {
  const key = viewOf(context, stored);
  context.emit({ type, at: context.readClock().now, key });
  return key;
}
