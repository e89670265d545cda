import type { Storage } from "@petstore/core";

/** Charges one request to a key. Resolves to the day's requests before it. */
export async function chargeOnce(storage: Storage, digest: string): Promise<number> {
  const charged = await storage.usage.charge(digest, (holder) => ({
    next: holder && { ...holder.usage, dayUsed: holder.usage.dayUsed + 1 },
    result: holder?.usage.dayUsed ?? NaN,
  }));
  return charged._unsafeUnwrap();
}
