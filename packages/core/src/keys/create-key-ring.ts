import { err, ok, type Result, type ResultAsync } from "neverthrow";
import {
  keyInactive,
  keyNotFound,
  storageUnavailable,
  type KeyInactive,
  type KeyNotFound,
  type StorageUnavailable,
} from "../errors.js";
import type { BanRule } from "../limits/ban.js";
import type { Plans } from "../limits/plan.js";
import type { Timekeeper } from "../limits/reading.js";
import { NO_USAGE } from "../limits/usage.js";
import type { RandomSource } from "../random.js";
import type { KeyWithUsage } from "../storage/key-storage.js";
import type { Storage } from "../storage/storage.js";
import type { ApiKeySecret, StoredApiKey } from "./api-key.js";
import { hasExpired } from "./credential.js";
import { newKeyId } from "./key-id.js";
import { parseKeyQuery, parseKeyRequest, parseOverlap, parsePlanChoice } from "./key-request.js";
import type { ApiKey, KeyRing } from "./key-ring.js";
import { viewKey } from "./key-view.js";
import { rotated } from "./rotation.js";
import { digestOf, hintOf, mintSecret } from "./secret.js";

/** What a key ring works with. */
export interface KeyRingParts {
  readonly storage: Pick<Storage, "keys" | "usage">;
  readonly plans: Plans;
  readonly ban: BanRule | undefined;
  readonly random: RandomSource;
  readonly read: Timekeeper;
}

/** The host's key ring over a storage. */
export function createKeyRing({ storage, plans, ban, random, read }: KeyRingParts): KeyRing {
  const { keys, usage } = storage;

  const view = (stored: KeyWithUsage): ApiKey => viewKey(stored, { plans, ban }, read());

  const stored = (id: string): ResultAsync<KeyWithUsage, KeyNotFound | StorageUnavailable> =>
    keys
      .find(id)
      .mapErr(storageUnavailable)
      .andThen((found) => (found === undefined ? err(keyNotFound()) : ok(found)));

  const find = (id: string) => stored(id).map(view);

  // The change comes last, so that no failure after it can hide that it was made.
  const change = (
    id: string,
    decide: (key: StoredApiKey) => Result<StoredApiKey, KeyInactive>,
  ): ResultAsync<ApiKey, KeyNotFound | KeyInactive | StorageUnavailable> =>
    stored(id).andThen((found) =>
      keys
        .update<Result<StoredApiKey, KeyNotFound | KeyInactive>>(id, (key) => {
          if (key === undefined) return { answer: err(keyNotFound()) };
          const decided = decide(key);
          return { next: decided.unwrapOr(undefined), answer: decided };
        })
        .mapErr(storageUnavailable)
        .andThen((changed) => changed)
        .map((key) => view({ key, usage: found.usage })),
    );

  const mint = (): { readonly secret: string; readonly record: ApiKeySecret } => {
    const secret = mintSecret(random);
    return {
      secret,
      record: { digest: digestOf(secret), hint: hintOf(secret), expiresAt: undefined },
    };
  };

  return Object.freeze({
    issue: (input) => {
      const { now } = read();
      return parseKeyRequest(input, plans, now).asyncAndThen((request) => {
        const { secret, record } = mint();
        const id = newKeyId(now, random);
        const key = { ...request, id, createdAt: now, revokedAt: undefined, secrets: [record] };
        return keys
          .insert(key)
          .mapErr(storageUnavailable)
          .map(() => ({ secret, key: view({ key, usage: NO_USAGE }) }));
      });
    },

    find,

    list: (input = {}) =>
      parseKeyQuery(input).asyncAndThen((query) =>
        keys
          .list(query)
          .mapErr(storageUnavailable)
          .map((page) => {
            const all = page.map(view);
            return {
              keys: query.banned ? all.filter((key) => key.bannedUntil !== undefined) : all,
              next: page.length === query.limit ? page.at(-1)?.key.id : undefined,
            };
          }),
      ),

    revoke: (id) => {
      const { now } = read();
      return change(id, (key) => ok({ ...key, revokedAt: key.revokedAt ?? now }));
    },

    rotate: (id, { overlapSeconds = 0 } = {}) =>
      parseOverlap(overlapSeconds).asyncAndThen((overlap) => {
        const { now } = read();
        const { secret, record } = mint();
        return change(id, (key) =>
          key.revokedAt !== undefined || hasExpired(key.expiresAt, now)
            ? err(keyInactive())
            : ok(rotated(key, record, now + overlap, now)),
        ).map((key) => ({ secret, key }));
      }),

    changePlan: (id, to) =>
      parsePlanChoice(to, plans).asyncAndThen((choice) =>
        change(id, (key) => ok({ ...key, ...choice })),
      ),

    liftBan: (id) =>
      stored(id).andThen((found) =>
        usage
          .update(id, (used) => {
            const next = { ...(used ?? NO_USAGE), bans: 0, bannedAt: 0, refusals: 0 };
            return { next, answer: next };
          })
          .mapErr(storageUnavailable)
          .map((lifted) => view({ ...found, usage: lifted })),
      ),

    usage: (id) => find(id).map((key) => key.usage),
  } satisfies KeyRing);
}
