import { err, ok, type Result } from "neverthrow";
import { invalidPet, type InvalidPet } from "../errors.js";
import { isArray, isObject, ownField } from "../input.js";
import { toInt64 } from "./int64.js";
import {
  DEFAULT_PET_STATUS,
  isPetStatus,
  petStatuses,
  type NewPet,
  type PetStatus,
} from "./pet.js";

/** What a caller passes to add an animal. Unknown fields, an `id` among them, are ignored. */
export interface NewPetInput {
  /** The animal's name: well-formed text without NUL; the empty string is a name, too. */
  readonly name: string;
  /** The category that the animal belongs to: an int64, or a safe integer. */
  readonly categoryId: bigint | number;
  /** Availability status; `available` when left out. */
  readonly status?: PetStatus | undefined;
}

const NAME = "name must be a string of well-formed text without NUL";
const CATEGORY_ID = "categoryId must be an int64 integer";
const STATUS = `status must be one of ${petStatuses.join(", ")}`;

/**
 * Validates an animal that is to be added (specification, "NewPet"). Only own properties count,
 * and each is read once. The error names every wrong field.
 */
export function parseNewPet(input: unknown): Result<NewPet, InvalidPet> {
  if (!isObject(input) || isArray(input)) return err(invalidPet(["the pet must be an object"]));

  const name = ownField(input, "name");
  const categoryId = toInt64(ownField(input, "categoryId"));
  const status = ownField(input, "status", DEFAULT_PET_STATUS);
  if (isText(name) && categoryId !== undefined && isPetStatus(status)) {
    return ok({ name, categoryId, status });
  }
  return err(
    invalidPet([
      ...(isText(name) ? [] : [NAME]),
      ...(categoryId === undefined ? [CATEGORY_ID] : []),
      ...(isPetStatus(status) ? [] : [STATUS]),
    ]),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}
