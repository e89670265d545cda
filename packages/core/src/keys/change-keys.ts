import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { err, ok, type Result } from "neverthrow";
import type { Context } from "../context.js";
import type { KeyEventType } from "../events/events.js";
import { keyInactive, invalidKeyRequest, keyNotFound, mayBeStored } from "../errors.js";
import type { KeyError, StorageUnavailableError } from "../errors.js";
import { NO_USAGE } from "../limits/usage.js";
import { change, read } from "../storage/outcomes.js";
import { mintSecret } from "./key-format.js";
import { parseAge, parseKeyRequest, parseOverlap, parsePlanChoice } from "./key-requests.js";
import type { IssueKeyInput, PlanInput, PurgeKeysOptions } from "./key-requests.js";
import type { RotateKeyOptions } from "./key-requests.js";
import { loadKey, viewOf, type KeyResult } from "./read-keys.js";
import { endOf, hasEnded, keyWithout, rotatedKey, storedSecret } from "./api-key.js";
import type { ApiKey, StoredApiKey } from "./api-key.js";

/** A key that was just issued or rotated. */
export interface IssuedKey {
  /** The bearer token for the client. It cannot be read again: only its digest is stored. */
  readonly secret: string;
  readonly key: ApiKey;
}

export interface PurgedKeys {
  readonly purged: number;
}

export async function issueKey(context: Context, input: IssueKeyInput): KeyResult<IssuedKey> {
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
  // Before it is stored: nothing may fail afterwards, and lose the secret.
  const issued = { secret, key: viewOf(context, { key, usage: NO_USAGE }) };
  return change(
    () => storage.keys.insert(key),
    () => {
      emitKeyEvent(context, "key_issued", issued.key);
      return ok(issued);
    },
  );
}

export function revokeKey(context: Context, id: string): KeyResult<ApiKey> {
  return changeKey(context, id, "key_revoked", (key, now) =>
    ok({ ...key, revokedAt: key.revokedAt ?? now }),
  );
}

export async function rotateKey(
  context: Context,
  id: string,
  options: RotateKeyOptions,
): KeyResult<IssuedKey> {
  const overlap = parseOverlap(options);
  if (overlap.isErr()) return err(overlap.error);

  const secret = mintSecret(context.random);
  const rotated = await changeKey(context, id, "key_rotated", (key, now) => {
    if (hasEnded(key, now)) return err(keyInactive());
    return ok(rotatedKey(key, storedSecret(secret), now + overlap.value, now));
  });
  return rotated.map((key) => ({ secret, key }));
}

export function endSecret(context: Context, id: string, hint: string): KeyResult<ApiKey> {
  return changeKey(context, id, "secret_ended", (key, now) => {
    if (hasEnded(key, now)) return err(keyInactive());
    if (key.secrets.every((each) => each.hint !== hint)) return err(keyNotFound("hint"));
    const rest = keyWithout(key, hint, now);
    return rest === undefined ? err(invalidKeyRequest([LAST_SECRET])) : ok(rest);
  });
}

const LAST_SECRET = "the key has no other valid secret: rotate it first, or revoke it";

export async function changePlan(context: Context, id: string, to: PlanInput): KeyResult<ApiKey> {
  const choice = parsePlanChoice(to, context.plans);
  if (choice.isErr()) return err(choice.error);
  return changeKey(context, id, "plan_changed", (key) => ok({ ...key, ...choice.value }));
}

export async function liftBan(context: Context, id: string): KeyResult<ApiKey> {
  const found = await loadKey(context, id);
  if (found.isErr()) return err(found.error);
  const { key } = found.value;

  const update = () =>
    context.storage.usage.update(id, (before) => {
      if (before === undefined) return { result: undefined };
      const next = { ...before, bans: 0, bannedAt: 0, refusedSince: 0, refusals: 0 };
      const wasBanned = viewOf(context, { key, usage: before }).bannedUntil !== undefined;
      return { next, result: { wasBanned, lifted: viewOf(context, { key, usage: next }) } };
    });
  return change(update, (changed) => {
    if (changed === undefined) return err(keyNotFound());
    const { wasBanned, lifted } = changed;
    return ok(wasBanned ? emitKeyEvent(context, "ban_lifted", lifted) : lifted);
  });
}

/** How many keys a purge looks at, and removes at most, before other calls run. */
const PURGE_BATCH = 100;

export async function purgeKeys(
  { storage, readClock }: Context,
  options: PurgeKeysOptions,
): KeyResult<PurgedKeys> {
  const age = parseAge(options);
  if (age.isErr()) return err(age.error);
  const time = readClock().now - age.value;

  let purged = 0;
  let after: string | undefined;
  const failed = (error: StorageUnavailableError) =>
    err(purged === 0 ? error : mayBeStored(error.cause));
  do {
    const query = { limit: PURGE_BATCH, after, banned: false };
    const page = await read(
      () => storage.keys.list(query),
      (found) => ok(found.map(({ key }) => key)),
    );
    if (page.isErr()) return failed(page.error);
    // A key that has ended is never valid again, so it can be removed in another transaction.
    const ended = page.value.filter((key) => endOf(key) < time).map(({ id }) => id);
    if (ended.length > 0) {
      const removed = await change(
        () => storage.keys.remove(ended),
        (count) => ok(count),
      );
      if (removed.isErr()) return failed(removed.error);
      purged += removed.value;
    }
    after = page.value.at(-1)?.id;
    await setImmediate();
  } while (after !== undefined);
  return ok({ purged });
}

/** Emits the event unless `changed` returns an equal key. Nothing can fail after the key is stored. */
async function changeKey(
  context: Context,
  id: string,
  type: KeyEventType,
  changed: (key: StoredApiKey, now: number) => Result<StoredApiKey, KeyError>,
): KeyResult<ApiKey> {
  const { now } = context.readClock();
  const found = await loadKey(context, id);
  if (found.isErr()) return err(found.error);
  const { usage } = found.value;

  type Changed = { readonly key: ApiKey; readonly isSame: boolean };
  const update = () =>
    context.storage.keys.update<Result<Changed, KeyError>>(id, (before) => {
      const next = before === undefined ? err(keyNotFound()) : changed(before, now);
      if (next.isErr()) return { result: err(next.error) };
      const isSame = isDeepStrictEqual(next.value, before);
      const key = viewOf(context, { key: next.value, usage });
      return { next: isSame ? before : next.value, result: ok({ key, isSame }) };
    });
  return change(update, (result) =>
    result.map(({ key, isSame }) => (isSame ? key : emitKeyEvent(context, type, key))),
  );
}

function emitKeyEvent({ emit }: Context, type: KeyEventType, key: ApiKey): ApiKey {
  emit({ type, keyId: key.id, key });
  return key;
}
