import type { Pet } from "@petstore/core";
import { isPetStatus, keysOf, ownField, toInt64 } from "@petstore/core/facts";

interface FieldJson<Value> {
  /** Returns the JSON of a value. One of another type becomes `null`, which the server refuses, as the engine would. */
  readonly write: (value: unknown) => string;
  /** Returns the field's value, read from parsed JSON; `null` if it is not valid. A missing optional field is `undefined`. */
  readonly read: (value: unknown) => Value | null;
}

/** A `bigint` is written as an exact JSON number. */
const int64: FieldJson<bigint> = {
  write: (value) => toInt64(value)?.toString() ?? "null",
  read: (value) => toInt64(value) ?? null,
};

const text: FieldJson<string> = {
  write: (value) => (typeof value === "string" ? JSON.stringify(value) : "null"),
  read: (value) => (typeof value === "string" ? value : null),
};

/** The JSON of each field of a pet (specification, "Pet"), in its order there. */
const fields: { readonly [Field in keyof Pet]-?: FieldJson<Pet[Field]> } = {
  id: int64,
  name: text,
  categoryId: int64,
  status: { write: text.write, read: (value) => (isPetStatus(value) ? value : null) },
};

const membersOfPet = keysOf(fields).map((name) => ({ name, start: `"${name}":`, ...fields[name] }));
const membersOfNewPet = membersOfPet.filter(({ name }) => name !== "id");

export const encodePet = (pet: Pet): string => encode(pet, membersOfPet);

/** Returns the JSON text of Pets (specification, "Pets"): a bare array. */
export const encodePets = (pets: readonly Pet[]): string => `[${pets.map(encodePet).join()}]`;

/** Returns the JSON text of a pet to add, with only the fields of one; `null` if the input is no object. */
export function encodeNewPet(input: unknown): string {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? encode(input, membersOfNewPet) : "null";
}

function encode(pet: object, members: typeof membersOfPet): string {
  let json = "";
  for (const { name, start, write } of members) {
    const value = ownField(pet, name);
    if (value !== undefined) json += (json && ",") + start + write(value);
  }
  return `{${json}}`;
}

/** Reads an array of pets from parsed JSON; `undefined` if the value is anything else. */
export function readPets(value: unknown): readonly Pet[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const pets = value.map(readPet);
  return pets.every((pet) => pet !== undefined) ? pets : undefined;
}

/** Reads a pet from parsed JSON; `undefined` if the value is anything else. */
export function readPet(value: unknown): Pet | undefined {
  const id = fields.id.read(ownField(value, "id"));
  const name = fields.name.read(ownField(value, "name"));
  const categoryId = fields.categoryId.read(ownField(value, "categoryId"));
  const status = fields.status.read(ownField(value, "status"));
  if (id === null || name === null || categoryId === null || status === null) return undefined;
  return { id, name, categoryId, status } satisfies Required<Pet>;
}
