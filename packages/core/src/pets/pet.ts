import { isDeepStrictEqual } from "node:util";
import { err, ok, type Result } from "neverthrow";
import { invalidPet, type CreatePetError } from "../errors.js";
import { ownField, type EachField } from "../validation/fields.js";
import { isText } from "../validation/text.js";
import { int64Problem, toInt64 } from "./int64.js";
import { isPetStatus, petStatuses, type PetStatus } from "./pet-status.js";

/** A pet to add. Unknown fields, including an `id`, are ignored. */
export interface NewPetInput extends Pick<NewPet, "name"> {
  /** An int64; as a `number`, a safe integer. */
  readonly categoryId: bigint | number;
  /** `available` by default. */
  readonly status?: PetStatus | undefined;
}

/** A new pet, validated and complete. */
export interface NewPet {
  /** Well-formed text without NUL, at most `LONGEST_NAME` bytes in UTF-8; may be empty. */
  readonly name: string;
  /** An int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

export interface Pet extends NewPet {
  /** Assigned by the store when the pet was added; an int64. */
  readonly id: bigint;
}

/** Returns a pet with exactly its fields, frozen. */
export function petOf(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return Object.freeze({ id, name, categoryId, status } satisfies EachField<Pet>);
}

/** Returns the values of a pet's fields without its id, in a fixed order to which later fields are added at the end. */
export function valuesOf({ name, categoryId, status }: NewPet): readonly unknown[] {
  return Object.values({ name, categoryId, status } satisfies EachField<NewPet>);
}

type TextField = { [Field in keyof Pet]-?: string extends Pet[Field] ? Field : never }[keyof Pet];

/** More bytes than the other fields take in JSON, with the names and the punctuation of all fields. */
const OTHER_FIELDS = 160;

/** Returns the size of a pet in JSON, in bytes of UTF-8, or more: a short text counts as if all of it were escaped. */
export function jsonBytes({ name }: Pet): number {
  const texts: Readonly<Record<TextField, string>> = { name };
  return OTHER_FIELDS + bytesOfText(texts.name);
}

/** A page of texts up to this length is never too long, even if each character is escaped. */
const SHORT_TEXT = 1_000;

function bytesOfText(text: string): number {
  return text.length <= SHORT_TEXT ? 6 * text.length : Buffer.byteLength(JSON.stringify(text));
}

const DEFAULT_STATUS: PetStatus = "available";

/** The longest name of a pet, in bytes of UTF-8: 64 KiB. */
export const LONGEST_NAME = 65_536;

const NAME = `name must be a string of well-formed text without NUL, at most ${LONGEST_NAME} bytes long`;
/** The problem of a value that is not a status. */
export const STATUS = `status must be one of ${petStatuses.join(", ")}`;

// Taken from a public union: the declarations of hosts can name no other type.
type InvalidPet = Extract<CreatePetError, { readonly code: "invalid_pet" }>;

/** Validates a new pet (specification, "NewPet"): own properties only. The error names every wrong field. */
export function parseNewPet(input: unknown): Result<NewPet, InvalidPet> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return err(invalidPet(["the pet must be an object"]));
  }
  const name = ownField(input, "name");
  const category = ownField(input, "categoryId");
  const categoryId = toInt64(category);
  const status = ownField(input, "status", DEFAULT_STATUS);
  if (isName(name) && categoryId !== undefined && isPetStatus(status)) {
    return ok({ name, categoryId, status } satisfies EachField<NewPet>);
  }
  const problems: string[] = [];
  if (!isName(name)) problems.push(NAME);
  if (categoryId === undefined) problems.push(int64Problem("categoryId", category));
  if (!isPetStatus(status)) problems.push(STATUS);
  return err(invalidPet(problems));
}

function isName(value: unknown): value is string {
  return isText(value) && Buffer.byteLength(value) <= LONGEST_NAME;
}

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
    else if (!isDeepStrictEqual(valuesOf(pet), valuesOf(other)))
      return { missing: [], conflict: pet.id };
  }
  return { missing: [...missing.values()] };
}
