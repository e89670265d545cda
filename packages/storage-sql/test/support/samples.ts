import { setImmediate } from "node:timers/promises";
import { windowNames } from "@petstore/core/facts";
import type { NewPet, PetQuery, Storage, StoredApiKey } from "@petstore/core/storage";

export const rex: NewPet = { name: "Rex", categoryId: 7n, status: "available" };
export const firstPage: PetQuery = { limit: 100, status: undefined, after: undefined };

/** A key whose one secret has the digest `digest of <id>`. */
export function aKey(id: string): StoredApiKey {
  return {
    id,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    ...{ label: undefined, createdAt: 0, expiresAt: undefined, revokedAt: undefined },
    secrets: [{ digest: `digest of ${id}`, hint: "pet_live_abcd", expiresAt: undefined }],
  };
}

/** Charges one request to a key. Resolves to the day's requests before it. */
export async function chargeOnce(storage: Storage, id: string): Promise<number> {
  const charged = await storage.usage.charge(`digest of ${id}`, (presented) => ({
    next: presented && { ...presented.usage, dayUsed: presented.usage.dayUsed + 1 },
    result: presented?.usage.dayUsed ?? NaN,
  }));
  return charged._unsafeUnwrap();
}

export const usedBy = async ({ keys }: Storage, id: string): Promise<number | undefined> =>
  (await keys.find(id))._unsafeUnwrap()?.usage.dayUsed;

export async function allIds(storage: Storage, after?: bigint): Promise<readonly bigint[]> {
  const { pets, next } = (await storage.pets.list({ ...firstPage, after }))._unsafeUnwrap();
  const ids = pets.map(({ id }) => id);
  return next === undefined ? ids : [...ids, ...(await allIds(storage, next))];
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

/** Does this in each turn of the event loop until a call has ended. Resolves to the call's result. */
export async function meanwhile<T>(call: PromiseLike<T>, step: () => unknown): Promise<T> {
  const ended = new AbortController();
  void call.then(() => ended.abort());
  while (!ended.signal.aborted) {
    await step();
    await turns(1);
  }
  return call;
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Changes of a pet, a key and its usage, by hand, that the schema refuses. */
export const WRONG_CHANGES = [
  ...["pets set id = 0", "pets set status = 'lost'", "api_keys set id = ''"],
  ...windowNames.map((name) => `api_keys set per_${name} = 0`),
  ...[...windowNames.map((name) => `${name}_used`), "refusals", "bans"].map(
    (column) => `api_key_usage set ${column} = -1`,
  ),
];
