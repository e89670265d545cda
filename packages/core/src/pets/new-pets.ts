import { err, ok, type Result } from "neverthrow";
import { invalidPets, type InvalidPets, type PetProblem } from "../errors.js";
import { parseNewPet } from "./new-pet.js";
import type { NewPet } from "./pet.js";

/** How many animals can be added at once: so many that an atomic step stays short. */
export const BATCH_LIMIT = 1_000;

/** Validates animals that are to be added together. The error has every wrong one, by its index. */
export function parseNewPets(inputs: readonly unknown[]): Result<readonly NewPet[], InvalidPets> {
  if (!Array.isArray(inputs)) return err(invalidPets(["the pets must be an array"], []));
  if (inputs.length > BATCH_LIMIT) {
    return err(invalidPets([`at most ${BATCH_LIMIT} pets can be added at once`], []));
  }

  const pets: NewPet[] = [];
  const problems: PetProblem[] = [];
  for (const [index, input] of inputs.entries()) {
    parseNewPet(input).match(
      (pet) => pets.push(pet),
      ({ message }) => problems.push({ index, message }),
    );
  }
  const [first] = problems;
  if (first === undefined) return ok(pets);
  const count = `${problems.length} of ${inputs.length} pets are invalid`;
  return err(invalidPets([count, `number ${first.index}: ${first.message}`], problems));
}
