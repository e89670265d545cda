import type { Storage } from "@petstore/core";

/** Charges the key one request, and answers how many it had used before. */
export async function chargeOnce(storage: Storage, digest: string): Promise<number> {
  const charged = await storage.usage.charge(digest, (holder) => ({
    next: holder && { ...holder.usage, dayUsed: holder.usage.dayUsed + 1 },
    result: holder?.usage.dayUsed ?? NaN,
  }));
  return charged._unsafeUnwrap();
}
