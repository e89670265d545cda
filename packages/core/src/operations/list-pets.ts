import { err, type Result } from "neverthrow";
import type { Context } from "../context.js";
import { storageUnavailable, type InvalidQuery, type StorageUnavailable } from "../errors.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";

/** Returns a page of pets, for a caller that is admitted or trusted. See `PetOperations.listPets`. */
export async function listPets(
  { storage }: Context,
  input: ListPetsInput,
): Promise<Result<PetPage, InvalidQuery | StorageUnavailable>> {
  const query = parseListQuery(input);
  if (query.isErr()) return err(query.error);
  const page = await storage.pets.list(query.value);
  return page.mapErr(storageUnavailable);
}
