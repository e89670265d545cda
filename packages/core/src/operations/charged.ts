import { err, ok, type Result } from "neverthrow";
import type { WithQuota } from "../errors.js";
import type { Quota } from "../limits/quota.js";
import type { Charged, PetResult } from "../pet-store.js";
import type { PetPage } from "../pets/list-query.js";

// Written out field by field: every request goes through here, and a spread costs about as much as finding a row.

/** A page of animals, or why there is none, with what is left to the caller. */
export function chargedPage<E extends object>(
  result: Result<PetPage, E>,
  quota: Quota,
): Result<PetPage & Charged, WithQuota<E>> {
  if (result.isErr()) return err({ ...result.error, quota });
  const { pets, next } = result.value;
  return ok({ pets, next, quota });
}

/** One animal, or why there is none, with what is left to the caller. */
export function chargedPet<E extends object>(
  result: Result<PetResult, E>,
  quota: Quota,
): Result<PetResult & Charged, WithQuota<E>> {
  if (result.isErr()) return err({ ...result.error, quota });
  return ok({ pet: result.value.pet, quota });
}
