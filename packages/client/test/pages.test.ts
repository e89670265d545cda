import type { PetPage, Pets } from "@petstore/core";
import { pagesOf, petsOf, type TransportError } from "@petstore/client";
import { okAsync } from "neverthrow";
import { expect, test } from "vitest";
import { clientOf, stock } from "./support/stores.js";

test("pages and pets come from a client, a caller in process and the host alike; an error is the last", async () => {
  const stocked = await stock();
  const { store, key } = stocked;
  for (let id = 1; id <= 5; id += 1) {
    const status = id === 3 ? "sold" : "available";
    await store.trusted.createPet({ name: `${id}`, categoryId: id, status });
  }
  const remote: Pets<TransportError> = clientOf(stocked);
  type Lister = Parameters<typeof pagesOf<PetPage, { readonly code: string }>>[0];
  const listers: readonly Lister[] = [remote, store.as(key), store.trusted];
  for (const pets of listers) {
    const found = await collect(petsOf(pets, { limit: 2, status: "available" }));
    expect(found.map((pet) => pet._unsafeUnwrap().id)).toEqual([1n, 2n, 4n, 5n]);
    const pages = await collect(pagesOf(pets, { limit: 2, after: 1n }));
    expect(pages.map((page) => page._unsafeUnwrap().pets.length)).toEqual([2, 2]);
    const failed = await collect(petsOf(pets, { limit: 0 }));
    expect(failed).toMatchObject([{ error: { code: "invalid_query" } }]);
  }
});

test("a next that does not grow is an error after its page", async () => {
  const page = { pets: [], next: 7n };
  const pets: Parameters<typeof pagesOf<PetPage, never>>[0] = { listPets: () => okAsync(page) };
  const error = { error: { code: "unexpected_response" } };
  expect(await collect(pagesOf(pets))).toMatchObject([{ value: page }, { value: page }, error]);
  expect(await collect(pagesOf(pets, { after: 7 }))).toMatchObject([{ value: page }, error]);
  expect(await collect(petsOf(pets))).toMatchObject([error]);
});

async function collect<T>(iterable: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of iterable) all.push(each);
  return all;
}
