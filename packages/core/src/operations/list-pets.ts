import type { ResultAsync } from "neverthrow";
import { storageUnavailable, type InvalidQuery, type StorageUnavailable } from "../errors.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";
import type { PetStorage } from "../storage/pet-storage.js";

/** Lists animals in ascending order of id (specification, "GET /pets"). */
export function listPets(
  pets: PetStorage,
  input: ListPetsInput,
): ResultAsync<PetPage, InvalidQuery | StorageUnavailable> {
  return parseListQuery(input).asyncAndThen((query) => pets.list(query).mapErr(storageUnavailable));
}
