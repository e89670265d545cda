import { hash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { invalidIdempotencyKey, type CreatePetError } from "../errors.js";
import { isIdempotencyKey } from "../validation/text.js";
import { valuesOf, type NewPet } from "./pet.js";

export interface CreatePetOptions {
  /**
   * Makes the call safe to repeat: 1 to 255 visible ASCII characters, new for each pet to add. A call with a key
   * that was used before, by the same API key, returns the pet that was added then. Keys are remembered for
   * `idempotencyKeySeconds`.
   */
  readonly idempotencyKey?: string | undefined;
}

// From a public union, as the error of close() is.
type Parsed<T> = Result<T, Extract<CreatePetError, { readonly code: "invalid_idempotency_key" }>>;

export function parseIdempotencyKey(key: unknown): Parsed<string> {
  return isIdempotencyKey(key) ? ok(key) : err(invalidIdempotencyKey());
}

export function parseCreatePetOptions(options: unknown): Parsed<string | undefined> {
  if (typeof options !== "object" || options === null) {
    return err(invalidIdempotencyKey("The options of createPet must be an object."));
  }
  const idempotencyKey: unknown = Reflect.get(options, "idempotencyKey");
  return idempotencyKey === undefined ? ok(undefined) : parseIdempotencyKey(idempotencyKey);
}

/** Returns the token of a creation: a digest of the idempotency key in its scope: an API key's id, or the host's, `""`. */
export function tokenOf(idempotencyKey: string, keyId = ""): string {
  return hash("sha256", `${keyId} ${idempotencyKey}`, "base64url");
}

/** Returns a digest that two pets share only if all their fields are equal. */
export function fingerprintOf(pet: NewPet): string {
  const values = valuesOf(pet).map((value) => (typeof value === "bigint" ? `${value}` : value));
  // Optional fields that a pet does not have do not count: earlier versions did not know the last of them.
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return hash("sha256", JSON.stringify(values.slice(0, length)), "base64url");
}
