import type { PetPage, Pets } from "@petstore/core";
import { pagesOf, petsOf, type PetLister, type TransportError } from "@petstore/client";
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
  const listers: readonly PetLister<PetPage, { readonly code: string }>[] = [
    remote,
    store.as(key),
    store.trusted,
  ];
  for (const pets of listers) {
    const ids: bigint[] = [];
    for await (const pet of petsOf(pets, { limit: 2, status: "available" })) {
      ids.push(pet._unsafeUnwrap().id);
    }
    expect(ids).toEqual([1n, 2n, 4n, 5n]);

    const sizes: number[] = [];
    for await (const page of pagesOf(pets, { limit: 2, after: 1n })) {
      sizes.push(page._unsafeUnwrap().pets.length);
    }
    expect(sizes).toEqual([2, 2]);

    const codes: string[] = [];
    for await (const pet of petsOf(pets, { limit: 0 })) codes.push(pet._unsafeUnwrapErr().code);
    expect(codes).toEqual(["invalid_query"]);
  }
});
