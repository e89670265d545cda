import type { ListPetsInput, Pet, PetPage } from "@petstore/core";
import { err, ok, type Result, type ResultAsync } from "neverthrow";

/** Lists pets: a client, a caller in process, or the host's own operations. */
export interface PetLister<Page extends PetPage, E> {
  listPets(input?: ListPetsInput): ResultAsync<Page, E>;
}

/**
 * Returns the pages after `input.after`, one call each. An error is the last result. To continue after it,
 * start again after the last pet. A `next` that does not grow ends them, because it would never end.
 */
export async function* pagesOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Page, E>, void, undefined> {
  let after = input.after;
  do {
    const page = await pets.listPets({ ...input, after });
    yield page;
    if (page.isErr()) return;
    const { next } = page.value;
    const isFurther = next !== undefined && (after === undefined || next > BigInt(after));
    after = isFurther ? next : undefined;
  } while (after !== undefined);
}

/** Returns the pets after `input.after`, page by page. `input.limit` is the size of a page. An error is the last result. */
export async function* petsOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Pet, E>, void, undefined> {
  for await (const page of pagesOf(pets, input)) {
    if (page.isErr()) {
      yield err(page.error);
      return;
    }
    for (const pet of page.value.pets) yield ok(pet);
  }
}
