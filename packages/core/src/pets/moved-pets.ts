import { valuesOf, type Pet } from "./pet.js";

/** What an import of pets has done. */
export interface ImportedPets {
  /** How many pets it has added; the others were there already. */
  readonly added: number;
  /** The id of a pet that differs from the one in the storage. Then none was added. */
  readonly conflict?: bigint | undefined;
}

/** Returns those of the pets that have to be added, or the first id that a different pet has. */
export function missingPets(
  pets: readonly Pet[],
  find: (id: bigint) => Pet | undefined,
): { readonly missing: readonly Pet[]; readonly conflict?: bigint } {
  const missing = new Map<bigint, Pet>();
  for (const pet of pets) {
    const other = missing.get(pet.id) ?? find(pet.id);
    if (other === undefined) missing.set(pet.id, pet);
    else if (!isSame(pet, other)) return { missing: [], conflict: pet.id };
  }
  return { missing: [...missing.values()] };
}

function isSame(pet: Pet, other: Pet): boolean {
  const values = valuesOf(other);
  return valuesOf(pet).every((value, index) => value === values[index]);
}
