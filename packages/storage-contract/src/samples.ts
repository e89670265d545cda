import {
  NO_USAGE,
  type ApiKeySecret,
  type NewPet,
  type StoredApiKey,
  type Usage,
} from "@petstore/core/storage";

/** A pet to create. */
export function aPet(changes: Partial<NewPet> = {}): NewPet {
  return { name: "Rex", categoryId: 7n, status: "available", ...changes };
}

/** A key to insert. Its one secret has the digest `digest of <id>`. */
export function aKey(id: string, changes: Partial<StoredApiKey> = {}): StoredApiKey {
  return {
    id,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    label: undefined,
    createdAt: 1_900_000_000_000,
    expiresAt: undefined,
    revokedAt: undefined,
    secrets: [aSecret(`digest of ${id}`)],
    ...changes,
  };
}

/** A secret of a key. */
export function aSecret(digest: string, changes: Partial<ApiKeySecret> = {}): ApiKeySecret {
  return { digest, hint: "pet_live_abcd", expiresAt: undefined, ...changes };
}

/** A usage with a different value in every field. */
export function aUsage(changes: Partial<Usage> = {}): Usage {
  return {
    minuteOpenedAt: 1_900_000_000_001,
    minuteUsed: 2,
    dayOpenedAt: 1_900_000_000_003,
    dayUsed: 4,
    refusedSince: 1_900_000_000_005,
    refusals: 6,
    bans: 7,
    bannedAt: 1_900_000_000_008,
    lastUsedAt: 1_900_000_000_009,
    ...changes,
  };
}

/** The usage with one more request in both windows. */
export function oneMore(usage: Usage): Usage {
  return { ...usage, minuteUsed: usage.minuteUsed + 1, dayUsed: usage.dayUsed + 1 };
}

/** The usage of a new key after `count` requests that were counted by `oneMore`. */
export function usedTimes(count: number): Usage {
  return { ...NO_USAGE, minuteUsed: count, dayUsed: count };
}
