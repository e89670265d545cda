import {
  NO_USAGE,
  type ApiKeySecret,
  type NewPet,
  type StoredApiKey,
  type Usage,
} from "@petstore/core";

/** An animal to add, the same but for what is given. */
export function aPet(different: Partial<NewPet> = {}): NewPet {
  return { name: "Rex", categoryId: 7n, status: "available", ...different };
}

/** A key to insert, with one secret named after its id, the same but for what is given. */
export function aKey(id: string, different: Partial<StoredApiKey> = {}): StoredApiKey {
  return {
    id,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    label: undefined,
    createdAt: 1_900_000_000_000,
    expiresAt: undefined,
    revokedAt: undefined,
    secrets: [aSecret(`digest of ${id}`)],
    ...different,
  };
}

/** A secret of a key, the same but for what is given. */
export function aSecret(digest: string, different: Partial<ApiKeySecret> = {}): ApiKeySecret {
  return { digest, hint: "pet_live_abcd", expiresAt: undefined, ...different };
}

/** A usage in which every field has another value, the same but for what is given. */
export function aUsage(different: Partial<Usage> = {}): Usage {
  return {
    minuteOpenedAt: 1_900_000_000_001,
    minuteUsed: 2,
    dayOpenedAt: 1_900_000_000_003,
    dayUsed: 4,
    refusals: 5,
    bans: 6,
    bannedAt: 1_900_000_000_007,
    lastUsedAt: 1_900_000_000_008,
    ...different,
  };
}

/** One more request than before, in both windows. */
export function oneMore(usage: Usage): Usage {
  return { ...usage, minuteUsed: usage.minuteUsed + 1, dayUsed: usage.dayUsed + 1 };
}

/** What so many calls of `oneMore` make of a key that was never used. */
export function usedTimes(count: number): Usage {
  return { ...NO_USAGE, minuteUsed: count, dayUsed: count };
}
