import { err, ok } from "neverthrow";
import { keyInactive } from "../errors.js";
import type { Tell } from "../events/events.js";
import type { BanRule } from "../limits/ban.js";
import type { Plans } from "../limits/plan.js";
import type { Timekeeper } from "../limits/reading.js";
import type { RandomSource } from "../random.js";
import type { KeyWithUsage } from "../storage/key-storage.js";
import type { GuardedStorage } from "../storage/guard-storage.js";
import { hasExpired } from "./credential.js";
import { newKeyId } from "./key-id.js";
import { createKeyRecords, type KeyRecords } from "./key-records.js";
import { parseKeyQuery, parseKeyRequest, parseOverlap, parsePlanChoice } from "./key-request.js";
import type { ApiKey, KeyRing } from "./key-ring.js";
import { viewKey } from "./key-view.js";
import { rotated } from "./rotation.js";
import { mintSecret, recordOf } from "./secret.js";

/** What a key ring works with. */
export interface KeyRingParts {
  readonly storage: Pick<GuardedStorage, "keys" | "usage">;
  readonly plans: Plans;
  readonly ban: BanRule | undefined;
  readonly random: RandomSource;
  readonly read: Timekeeper;
  readonly tell: Tell;
}

/** The events that tell of a key as it is afterwards. */
type KeyEvent = "key_issued" | "key_revoked" | "key_rotated" | "plan_changed" | "ban_lifted";

/** What the operations on keys share. */
interface Desk extends KeyRingParts {
  readonly records: KeyRecords;
  /** A key as its host sees it now. */
  readonly view: (stored: KeyWithUsage) => ApiKey;
  /** The same, and tells of it. */
  readonly viewAndTell: (type: KeyEvent) => (stored: KeyWithUsage) => ApiKey;
}

/** The host's key ring over a storage. */
export function createKeyRing(parts: KeyRingParts): KeyRing {
  const desk = openDesk(parts);
  const find: KeyRing["find"] = (id) => desk.records.find(id).map(desk.view);
  return Object.freeze({
    issue: issueAt(desk),
    find,
    list: listAt(desk),
    revoke: revokeAt(desk),
    rotate: rotateAt(desk),
    changePlan: changePlanAt(desk),
    liftBan: liftBanAt(desk),
    usage: (id: string) => find(id).map((key) => key.usage),
  });
}

function openDesk(parts: KeyRingParts): Desk {
  const view = (stored: KeyWithUsage): ApiKey => viewKey(stored, parts, parts.read());
  const viewAndTell =
    (type: KeyEvent) =>
    (stored: KeyWithUsage): ApiKey => {
      const key = view(stored);
      parts.tell(() => ({ type, at: parts.read().now, key }));
      return key;
    };
  return { ...parts, records: createKeyRecords(parts.storage), view, viewAndTell };
}

function issueAt({ plans, random, read, records, viewAndTell }: Desk): KeyRing["issue"] {
  return (input) => {
    const { now } = read();
    return parseKeyRequest(input, plans, now).asyncAndThen((request) => {
      const secret = mintSecret(random);
      const id = newKeyId(now, random);
      const secrets = [recordOf(secret)];
      return records
        .insert({
          id,
          plan: request.plan,
          limits: request.limits,
          label: request.label,
          createdAt: now,
          expiresAt: request.expiresAt,
          revokedAt: undefined,
          secrets,
        })
        .map(viewAndTell("key_issued"))
        .map((key) => ({ secret, key }));
    });
  };
}

function listAt({ records, view }: Desk): KeyRing["list"] {
  return (input = {}) =>
    parseKeyQuery(input).asyncAndThen((query) =>
      // One more than the page holds: its presence tells whether there is a next page.
      records.page({ ...query, limit: query.limit + 1 }).map((found) => {
        const page = found.slice(0, query.limit);
        const keys = page.map(view);
        return {
          keys: query.banned ? keys.filter((key) => key.bannedUntil !== undefined) : keys,
          next: found.length > query.limit ? page.at(-1)?.key.id : undefined,
        };
      }),
    );
}

function revokeAt({ read, records, view, viewAndTell }: Desk): KeyRing["revoke"] {
  return (id) => {
    const { now } = read();
    let isNew = false;
    return records
      .change(id, (key) => {
        isNew = key.revokedAt === undefined;
        return ok({ ...key, revokedAt: key.revokedAt ?? now });
      })
      .map((stored) => (isNew ? viewAndTell("key_revoked") : view)(stored));
  };
}

function rotateAt({ random, read, records, viewAndTell }: Desk): KeyRing["rotate"] {
  return (id, options = {}) =>
    parseOverlap(options).asyncAndThen((overlap) => {
      const { now } = read();
      const secret = mintSecret(random);
      return records
        .change(id, (key) =>
          key.revokedAt !== undefined || hasExpired(key.expiresAt, now)
            ? err(keyInactive())
            : ok(rotated(key, recordOf(secret), now + overlap, now)),
        )
        .map(viewAndTell("key_rotated"))
        .map((key) => ({ secret, key }));
    });
}

function changePlanAt({ plans, records, viewAndTell }: Desk): KeyRing["changePlan"] {
  return (id, to) =>
    parsePlanChoice(to, plans).asyncAndThen((choice) =>
      records.change(id, (key) => ok({ ...key, ...choice })).map(viewAndTell("plan_changed")),
    );
}

function liftBanAt({ records, view, viewAndTell }: Desk): KeyRing["liftBan"] {
  return (id) =>
    records
      .forgetBans(id)
      .map(({ before, after }) =>
        (view(before).bannedUntil === undefined ? view : viewAndTell("ban_lifted"))(after),
      );
}
