import { err, type Result } from "neverthrow";
import { storageUnavailable, type InvalidQuery, type StorageUnavailable } from "../errors.js";
import { parseListQuery, type ListPetsInput, type PetPage } from "../pets/list-query.js";
import { askStorage } from "../storage/guard-storage.js";
import type { PetParts } from "./pet-parts.js";

/** Lists animals in ascending order of id (specification, "GET /pets"). */
export function listPets(
  { pets }: PetParts,
  input: ListPetsInput,
): Promise<Result<PetPage, InvalidQuery | StorageUnavailable>> {
  const query = parseListQuery(input);
  if (query.isErr()) return Promise.resolve(err(query.error));
  return askStorage(
    () => pets.list(query.value),
    (listed) => listed.mapErr(storageUnavailable),
  );
}
