import type { ListPetsInput, Pet, PetPage } from "@petstore/core";
import { err, ok, type Result, type ResultAsync } from "neverthrow";
import { unexpectedResponse, type UnexpectedResponseError } from "./errors.js";

/** Lists pets: a client, a caller in process, or the host's own operations. */
export interface PetLister<Page extends PetPage, E> {
  listPets(input?: ListPetsInput): ResultAsync<Page, E>;
}

/**
 * Returns the pages after `input.after`, one call each. An error is the last result. To continue after it,
 * start again after the last pet. A `next` that does not grow is the error `unexpected_response`: it would never end.
 */
export async function* pagesOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Page, E | UnexpectedResponseError>, void, undefined> {
  let { after } = input;
  do {
    const page = await pets.listPets({ ...input, after });
    yield page;
    if (page.isErr()) return;
    const { next } = page.value;
    if (next !== undefined && after !== undefined && next <= BigInt(after)) {
      yield err(unexpectedResponse("Its body or its Link is malformed.", 200, undefined));
      return;
    }
    after = next;
  } while (after !== undefined);
}

/** Returns the pets after `input.after`, page by page. `input.limit` is the size of a page. An error is the last result. */
export async function* petsOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Pet, E | UnexpectedResponseError>, void, undefined> {
  for await (const page of pagesOf(pets, input)) {
    if (page.isErr()) yield err(page.error);
    else for (const pet of page.value.pets) yield ok(pet);
  }
}
