import type { Pet } from "@petstore/core";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Writes an int64 in decimal: a `bigint` in range, or a `number` that is a safe integer. Anything else becomes
 * `null`, which the server refuses as the engine refuses the value.
 */
export function writeInt64(value: unknown): string {
  const isExact =
    typeof value === "bigint"
      ? value >= INT64_MIN && value <= INT64_MAX
      : Number.isSafeInteger(value);
  return isExact ? String(value) : "null";
}

/** Writes a string; anything else becomes `null`. */
export function writeText(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : "null";
}

/** Matches a string or a number. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
/** Matches an integer that `JSON.parse` may round. */
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * Parses JSON. An integer of 16 digits or more becomes `{ int64: "…" }`, because `JSON.parse` would round it.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): unknown {
  // First as it is: in valid JSON every string ends, so that the expression below takes linear time.
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  return JSON.parse(
    text.replace(STRING_OR_NUMBER, (token) =>
      LONG_INTEGER.test(token) ? `{"int64":"${token}"}` : token,
    ),
  );
}

/** Reads an array of pets, or returns `undefined` if the value is anything else. */
export function readPets(value: unknown): readonly Pet[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const pets = value.map(readPet);
  return pets.every((pet) => pet !== undefined) ? pets : undefined;
}

/** Reads a pet, or returns `undefined` if the value is anything else. */
export function readPet(value: unknown): Pet | undefined {
  const [id, categoryId] = [readInt64(field(value, "id")), readInt64(field(value, "categoryId"))];
  const [name, status] = [field(value, "name"), field(value, "status")];
  if (id === undefined || categoryId === undefined || typeof name !== "string") return undefined;
  if (status !== "available" && status !== "pending" && status !== "sold") return undefined;
  return { id, name, categoryId, status };
}

function readInt64(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return parseInt64(field(value, "int64"));
}

/** Parses an int64 in canonical decimal form, or returns `undefined` if the value is anything else. */
export function parseInt64(text: unknown): bigint | undefined {
  if (typeof text !== "string" || !/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** Returns an object's own field; `undefined` if there is none. */
export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
