import type {
  AdmissionError,
  Charged,
  CreatedPet,
  ListPetsInput,
  NewPetInput,
  PetPage,
  PetResult,
  Pets,
  WithQuota,
} from "@petstore/core";
import {
  parseInt64,
  toInt64,
  type OperationErrors,
  type OperationName,
} from "@petstore/core/facts";
import {
  encodeNewPet,
  operations,
  ownField as field,
  readPet,
  readPets,
  type OperationFacts,
} from "@petstore/wire";
import type { ResultAsync } from "neverthrow";
import type { TransportError } from "./errors.js";
import { drawIdempotencyKey, type RandomSource } from "./random.js";
import { readNextLink } from "./wire/fields.js";
import { readResponse, type CompleteResponse, type Outcome } from "./wire/responses.js";

export interface CallOptions {
  /** Ends the call with `aborted`. A request that is under way may still be performed. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time for the call with all waits, in seconds. Default: that of the client. */
  readonly deadlineSeconds?: number | undefined;
}

export interface CreateCallOptions extends CallOptions {
  /** As in process: makes it safe to call again. Without one, only the call's own attempts are safe. */
  readonly idempotencyKey?: string | undefined;
}

type Remote = Pets<TransportError>;

/** The operations over HTTP. All calls share one gate, which keeps the caller within its limits. No call rejects. */
export interface PetsClient extends Remote {
  listPets(input?: ListPetsInput, options?: CallOptions): ReturnType<Remote["listPets"]>;
  createPet(input: NewPetInput, options?: CreateCallOptions): ReturnType<Remote["createPet"]>;
  /** @deprecated To be removed on 5 December 2030. List by status, or one pet: `{ after: id - 1n, limit: 1 }`. */
  getPet(id: Parameters<Remote["getPet"]>[0], options?: CallOptions): ReturnType<Remote["getPet"]>;
}

/** An operation with its input: its request, and how its responses are read. */
export interface Operation<T = unknown, E extends Coded = Coded> {
  readonly name: OperationName;
  readonly method: OperationFacts["method"];
  /** Below the base URL, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  read(response: CompleteResponse): Outcome<T, E>;
}

export type Coded = { readonly code: string };

export type Perform = <T, E extends Coded>(
  operation: Operation<T, E>,
  options: CallOptions | undefined,
) => ResultAsync<T & Charged, E | WithQuota<AdmissionError> | TransportError>;

export function operationsOf(perform: Perform, random: RandomSource): PetsClient {
  return Object.freeze({
    listPets: (input = {}, options) => perform(listPets(input), options),
    createPet: (input, options) => {
      const { idempotencyKey } = options ?? {};
      const key = idempotencyKey ?? drawIdempotencyKey(random);
      return perform(createPet(input, key, idempotencyKey === undefined), options);
    },
    getPet: (id, options) => perform(getPet(id), options),
  } satisfies PetsClient);
}

/** GET /pets. Input that a query cannot carry becomes input that the server refuses. */
function listPets(input: unknown): Operation<PetPage, OperationErrors["listPets"] & Charged> {
  const isObject = typeof input === "object" && input !== null;
  const parameters = new URLSearchParams(isObject ? {} : { limit: "null" });
  for (const [name, text] of Object.entries(listParameters)) {
    const value = field(input, name);
    if (value !== undefined) parameters.set(name, text(value));
  }
  const query = parameters.toString();
  return {
    ...requestOf("listPets"),
    path: query === "" ? operations.listPets.path : `${operations.listPets.path}?${query}`,
    read: (response) =>
      readResponse(response, operations.listPets, (value, { link }) => {
        const pets = readPets(value);
        const next = nextOf(link);
        return pets === undefined || next === "malformed" ? undefined : { pets, next };
      }),
  };
}

const listParameters: { readonly [Name in keyof ListPetsInput]-?: (value: unknown) => string } = {
  limit: (value) => (typeof value === "number" ? String(value) : "null"),
  status: (value) => (typeof value === "string" ? value : "null"),
  after: int64Text,
};

/** POST /pets. `isOwnKey` says whether the client made the key, so that no earlier call can have used it. */
function createPet(
  input: unknown,
  idempotencyKey: string,
  isOwnKey: boolean,
): Operation<CreatedPet, OperationErrors["createPet"] & Charged> {
  return {
    ...requestOf("createPet"),
    headers: { "Content-Type": "application/json", "Idempotency-Key": quote(idempotencyKey) },
    body: encodeNewPet(input),
    read: (response) =>
      readResponse(response, operations.createPet, (value, { replayed }) => {
        const pet = readPet(value);
        return pet && { pet, replayed: replayed && !isOwnKey };
      }),
  };
}

/** GET /pets/{petId}. An id that is not an int64 becomes one that names no pet. */
function getPet(id: unknown): Operation<PetResult, OperationErrors["getPet"] & Charged> {
  const petId = typeof id === "string" ? (parseInt64(id) ?? NO_ID) : int64Text(id);
  return {
    ...requestOf("getPet"),
    path: operations.getPet.path.replace("{petId}", String(petId)),
    read: (response) =>
      readResponse(response, operations.getPet, (value) => {
        const pet = readPet(value);
        return pet && { pet };
      }),
  };
}

function requestOf(name: OperationName) {
  const { method, path } = operations[name];
  return { name, method, path, headers: {} };
}

/** In place of an id that is none. */
const NO_ID = "null";

/** Returns an int64 in decimal; what is none becomes a text that the server refuses as the engine refuses the value. */
function int64Text(value: unknown): string {
  return toInt64(value)?.toString() ?? NO_ID;
}

/** RFC 9651, section 3.3.3. A key that is not visible ASCII becomes the empty one, which the server refuses. */
function quote(key: unknown): string {
  const isText = typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key);
  return `"${isText ? key.replace(/["\\]/g, "\\$&") : ""}"`;
}

function nextOf(link: string): bigint | "malformed" | undefined {
  const target = readNextLink(link);
  if (target === undefined) return undefined;
  const after = new URLSearchParams(target.slice(target.indexOf("?"))).get("after");
  return parseInt64(after ?? "") ?? "malformed";
}
