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
import { remainingQuotas } from "../limits/charge.js";
import { limitsOf, type Plans } from "../limits/plan.js";
import type { Timekeeper } from "../limits/reading.js";
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

  const change = (
    id: string,
    decide: (key: StoredApiKey) => Result<StoredApiKey, KeyInactive>,
  ): ResultAsync<ApiKey, KeyNotFound | KeyInactive | StorageUnavailable> =>
    keys
      .update<Result<void, KeyNotFound | KeyInactive>>(id, (key) => {
        if (key === undefined) return { answer: err(keyNotFound()) };
        return decide(key).match(
          (next) => ({ next, answer: ok() }),
          (error) => ({ answer: err(error) }),
        );
      })
      .mapErr(storageUnavailable)
      .andThen((answer) => answer)
      .andThen(() => find(id));

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
        return keys
          .insert({ ...request, id, createdAt: now, revokedAt: undefined, secrets: [record] })
          .mapErr(storageUnavailable)
          .andThen(() => find(id))
          .map((key) => ({ secret, key }));
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
      usage
        .update(id, (used) =>
          used === undefined
            ? { answer: undefined }
            : { next: { ...used, bans: 0, bannedAt: 0, refusals: 0 }, answer: undefined },
        )
        .mapErr(storageUnavailable)
        .andThen(() => find(id)),

    usage: (id) =>
      stored(id).map(({ key, usage: used }) => remainingQuotas(used, limitsOf(key, plans), read())),
  } satisfies KeyRing);
}
