import type { NewPet, PetQuery, StoredApiKey } from "@petstore/core";

export const rex: NewPet = { name: "Rex", categoryId: 7n, status: "available" };

export const firstPage: PetQuery = { limit: 100, status: undefined, after: undefined };

/** A key whose one secret has the digest `digest of <id>`. */
export function aKey(id: string): StoredApiKey {
  return {
    id,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    label: undefined,
    createdAt: 0,
    expiresAt: undefined,
    revokedAt: undefined,
    secrets: [{ digest: `digest of ${id}`, hint: "pet_live_abcd", expiresAt: undefined }],
  };
}
