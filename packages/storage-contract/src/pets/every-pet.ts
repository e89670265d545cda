import assert from "node:assert/strict";
import type { Pet, PetQuery, Storage } from "@petstore/core";
import { valueOf } from "../answers.js";

/** All animals that a query finds, page by page, in the order in which the storage lists them. */
export async function everyPet(
  storage: Storage,
  query: Partial<PetQuery> = {},
): Promise<readonly Pet[]> {
  const { limit = 100, status, after } = query;
  const { pets, next } = await valueOf(storage.pets.list({ limit, status, after }));
  if (next === undefined) return pets;
  assert.equal(next, pets.at(-1)?.id, "next must be the last id of its page");
  return [...pets, ...(await everyPet(storage, { limit, status, after: next }))];
}
