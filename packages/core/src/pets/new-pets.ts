import { err, ok, type Result } from "neverthrow";
import { invalidPets, type InvalidPets, type PetProblem } from "../errors.js";
import { isArray, ownField } from "../input.js";
import { parseNewPet } from "./new-pet.js";
import type { NewPet } from "./pet.js";

/** How many animals can be added at once: so many that an atomic step stays short. */
export const BATCH_LIMIT = 1_000;

/** Validates animals that are to be added together. The error has every wrong one, by its index. */
export function parseNewPets(inputs: readonly unknown[]): Result<readonly NewPet[], InvalidPets> {
  const count = lengthOf(inputs);
  if (count === undefined) return err(invalidPets(["the pets must be an array"], []));
  if (count > BATCH_LIMIT) {
    return err(invalidPets([`at most ${BATCH_LIMIT} pets can be added at once`], []));
  }

  const pets: NewPet[] = [];
  const problems: PetProblem[] = [];
  for (let index = 0; index < count; index += 1) {
    parseNewPet(ownField(inputs, index)).match(
      (pet) => pets.push(pet),
      ({ message }) => problems.push({ index, message }),
    );
  }
  const [first] = problems;
  if (first === undefined) return ok(pets);
  const summary = `${problems.length} of ${count} pets are invalid`;
  return err(invalidPets([summary, `number ${first.index}: ${first.message}`], problems));
}

function lengthOf(inputs: unknown): number | undefined {
  const length = isArray(inputs) ? ownField(inputs, "length") : undefined;
  return typeof length === "number" && Number.isInteger(length) && length >= 0 ? length : undefined;
}
