import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import type { Pet, PetPage } from "@petstore/core";
import type {
  Creation,
  CreationRequest,
  PresentedKey,
  KeyQuery,
  KeyWithUsage,
  NewPet,
  PetQuery,
  Storage,
  StorageError,
  StoredApiKey,
  Usage,
} from "@petstore/core/storage";
import type { Result } from "neverthrow";
import { aKey, aPet, aRequest, firstPage, oneMore } from "./samples.js";

/** Resolves to the value of a call. Rejects with an `AssertionError` if the storage fails. */
export async function valueOf<T>(call: Promise<Result<T, StorageError>>): Promise<T> {
  const result = await call;
  if (result.isErr()) assert.fail(`The storage failed: ${inspect(result.error)}`);
  return result.value;
}

/** Asserts that a call of the storage fails with an `Err` value, and neither throws nor rejects. */
export async function assertFails(
  call: () => Promise<Result<unknown, StorageError>>,
): Promise<void> {
  let result;
  try {
    result = await call();
  } catch (error) {
    assert.fail(`The storage threw or rejected: ${String(error)}`);
  }
  assert.ok(result.isErr(), `The storage returned Ok to ${String(call)}`);
  assert.equal(typeof result.error.message, "string");
}

/** Asserts that until this is done, each look sees none or all of them. */
export async function assertWhole(
  work: Promise<unknown>,
  all: number,
  look: () => Promise<readonly number[]>,
): Promise<void> {
  let isDone = false;
  const sizes = new Set<number>();
  const watch = async () => {
    while (!isDone) (await look()).forEach((size) => sizes.add(size));
  };
  await Promise.all([work.finally(() => (isDone = true)), watch()]);
  for (const size of sizes) assert.ok(size === 0 || size === all, `${size} of ${all} were seen`);
}

/** Creates pets one after the other. */
export async function createPets(storage: Storage, pets: readonly NewPet[]): Promise<Pet[]> {
  const created: Pet[] = [];
  for (const pet of pets) created.push(await valueOf(storage.pets.create(pet)));
  return created;
}

/** Each way to add a pet. An import adds it under this id. */
export const waysToAdd: readonly ((storage: Storage, pet: NewPet, id: bigint) => Promise<Pet>)[] = [
  (storage, pet) => valueOf(storage.pets.create(pet)),
  async (storage, pet, id) => {
    const created = storage.pets.createOnce(pet, aRequest({ token: `token ${id}` }));
    return { id: (await valueOf(created)).petId, ...pet };
  },
  async (storage, pet, id) => {
    const { added } = await valueOf(storage.pets.import([{ id, ...pet }]));
    assert.equal(added, 1);
    return { id, ...pet };
  },
];

/** Adds a sample pet under a token. */
export function createOnce(
  storage: Storage,
  changes?: Partial<CreationRequest>,
): Promise<Creation> {
  return valueOf(storage.pets.createOnce(aPet(), aRequest(changes)));
}

/** Resolves to a page of pets; by default the first 100. */
export function listPets(storage: Storage, query: Partial<PetQuery> = {}): Promise<PetPage> {
  return valueOf(storage.pets.list({ ...firstPage, ...query }));
}

/** Resolves to every pet that a query finds, page by page, in the order of the storage. */
export async function allPets(
  storage: Storage,
  query: Partial<PetQuery> = {},
): Promise<readonly Pet[]> {
  const { pets, next } = await listPets(storage, query);
  if (next === undefined) return pets;
  assert.equal(next, pets.at(-1)?.id, "next must be the last id of its page");
  return [...pets, ...(await allPets(storage, { ...query, after: next }))];
}

/** Resolves to the ids that each of these storages lists, page after page, until this is done. */
export async function follow(
  storages: readonly Storage[],
  work: Promise<unknown>,
): Promise<readonly (readonly bigint[])[]> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  const followed = storages.map(async (storage) => {
    const seen: bigint[] = [];
    for (let isLast = false; !isLast;) {
      isLast = isDone;
      const pets = await allPets(storage, { limit: 7, after: seen.at(-1) });
      seen.push(...pets.map(({ id }) => id));
      await setImmediate();
    }
    return seen;
  });
  await done;
  return Promise.all(followed);
}

/** Compares two ids. */
export function byValue(one: bigint, other: bigint): number {
  return one < other ? -1 : 1;
}

/** Inserts a sample key for each id. */
export async function insertKeys(storage: Storage, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await valueOf(storage.keys.insert(aKey(id)));
}

/** Resolves to one page of keys: by default the first 100, banned or not. */
export function listKeys(
  storage: Storage,
  query: Partial<KeyQuery> = {},
): Promise<readonly KeyWithUsage[]> {
  const { limit = 100, after, banned = false } = query;
  return valueOf(storage.keys.list({ limit, after, banned }));
}

/** Resolves to the key with this id. */
export async function keyOf(storage: Storage, id: string): Promise<StoredApiKey | undefined> {
  return (await valueOf(storage.keys.find(id)))?.key;
}

/** Changes some fields of the key with this id. */
export function changeKey(
  storage: Storage,
  id: string,
  changes: Partial<StoredApiKey>,
): Promise<void> {
  return valueOf(
    storage.keys.update(id, (key) => ({ next: key && { ...key, ...changes }, result: undefined })),
  );
}

/** Resolves to the usage of the key with this id. */
export async function usageOf(storage: Storage, id: string): Promise<Usage | undefined> {
  return (await valueOf(storage.keys.find(id)))?.usage;
}

export function setUsage(storage: Storage, id: string, usage: Usage): Promise<void> {
  return valueOf(storage.usage.update(id, () => ({ next: usage, result: undefined })));
}

/** Resolves to the key that a charge of this digest passes to its decision, and that a read finds. */
export async function presentedKeyOf(
  storage: Storage,
  digest: string,
): Promise<PresentedKey | undefined> {
  const charge = storage.usage.charge(digest, (presented) => ({ result: presented }));
  const shown = await valueOf(charge);
  const found = await valueOf(storage.usage.findByDigest(digest));
  assert.deepEqual(found, shown, "findByDigest must find what a charge is shown");
  return shown;
}

/** Charges one request to the key that has this digest. Resolves to the day's requests before it. */
export function chargeOnce(storage: Storage, digest: string): Promise<number> {
  return valueOf(
    storage.usage.charge(digest, (presented) => {
      assert.ok(presented, `no key has the digest "${digest}"`);
      return { next: oneMore(presented.usage), result: presented.usage.dayUsed };
    }),
  );
}

export function throwingDecision(): never {
  throw new Error("a decision that throws");
}
