import type { Charged, CreatedPet, ListPetsInput, NewPetInput } from "@petstore/core";
import type { Pet, PetPage, PetResult, Pets } from "@petstore/core";
import { isIdempotencyKey, operations, ownField as field } from "@petstore/core/facts";
import { parseInt64, toInt64 } from "@petstore/core/facts";
import type { OperationFacts, OperationName } from "@petstore/core/facts";
import { encodeNewPet, readPet, readPets } from "@petstore/wire";
import { err, ok, type Result, type ResultAsync } from "neverthrow";
import { unexpectedResponse } from "./errors.js";
import type { TransportError, UnexpectedResponseError } from "./errors.js";
import { drawIdempotencyKey, type RandomSource } from "./random.js";
import { readNextLink } from "./wire/fields.js";
import type { Head } from "./wire/head.js";
import { MALFORMED, type CallError } from "./wire/responses.js";

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

/** An operation with its input: its request, and how its responses are read. `Code`: of the errors that only it has. */
export interface Operation<T = unknown, Code extends string = string> {
  readonly name: OperationName;
  readonly facts: OperationFacts<Code>;
  /** Below the base URL, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Reads the JSON of a success; returns `undefined` if it is malformed. */
  readonly readResult: (value: unknown, head: Head) => T | undefined;
}

type Perform = <T extends object, Code extends string>(
  operation: Operation<T, Code>,
  options: CallOptions | undefined,
) => ResultAsync<T & Charged, CallError<Code>>;

export function operationsOf(perform: Perform, random: RandomSource): PetsClient {
  return {
    listPets: (input = {}, options) => perform(listPets(input), options),
    createPet: (input, options) => {
      const { idempotencyKey } = options ?? {};
      const key = idempotencyKey ?? drawIdempotencyKey(random);
      return perform(createPet(input, key, idempotencyKey === undefined), options);
    },
    getPet: (id, options) => perform(getPet(id), options),
  };
}

type OwnCode<Name extends OperationName> = keyof (typeof operations)[Name]["errors"];

/** GET /pets. Input that a query cannot carry becomes input that the server refuses. */
function listPets(input: unknown): Operation<PetPage, OwnCode<"listPets">> {
  const isObject = typeof input === "object" && input !== null;
  const parameters = new URLSearchParams(isObject ? {} : { limit: "null" });
  for (const [name, text] of Object.entries(listParameters)) {
    const value = field(input, name);
    if (value !== undefined) parameters.set(name, text(value));
  }
  const query = parameters.toString();
  return {
    name: "listPets",
    facts: operations.listPets,
    path: query === "" ? operations.listPets.path : `${operations.listPets.path}?${query}`,
    readResult: (value, { link }) => {
      const pets = readPets(value);
      const next = nextOf(link);
      return pets === undefined || next === "malformed" ? undefined : { pets, next };
    },
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
): Operation<CreatedPet, OwnCode<"createPet">> {
  return {
    name: "createPet",
    facts: operations.createPet,
    path: operations.createPet.path,
    headers: { "Content-Type": "application/json", "Idempotency-Key": quote(idempotencyKey) },
    body: encodeNewPet(input),
    readResult: (value, { replayed }) => {
      const pet = readPet(value);
      return pet && { pet, replayed: replayed && !isOwnKey };
    },
  };
}

/** GET /pets/{petId}. An id that is not an int64 becomes one that names no pet. */
function getPet(id: unknown): Operation<PetResult, OwnCode<"getPet">> {
  const petId = typeof id === "string" ? (parseInt64(id) ?? NO_ID) : int64Text(id);
  return {
    name: "getPet",
    facts: operations.getPet,
    path: operations.getPet.path.replace("{petId}", String(petId)),
    readResult: (value) => {
      const pet = readPet(value);
      return pet && { pet };
    },
  };
}

const NO_ID = "null";

/** Returns an int64 in decimal; what is none becomes a text that the server refuses as the engine refuses the value. */
function int64Text(value: unknown): string {
  return toInt64(value)?.toString() ?? NO_ID;
}

/** RFC 9651, section 3.3.3. A key that is not visible ASCII becomes the empty one, which the server refuses. */
function quote(key: unknown): string {
  return `"${isIdempotencyKey(key) ? key.replace(/["\\]/g, "\\$&") : ""}"`;
}

function nextOf(link: string): bigint | "malformed" | undefined {
  const target = readNextLink(link);
  if (target === undefined) return undefined;
  const after = new URLSearchParams(target.slice(target.indexOf("?"))).get("after");
  return parseInt64(after ?? "") ?? "malformed";
}

/** Lists pets: a client, a caller in process, or the host's own operations. */
export interface PetLister<Page extends PetPage, E> {
  listPets(input?: ListPetsInput): ResultAsync<Page, E>;
}

/**
 * Returns the pages after `input.after`, one call each. An error is the last result. To continue after it,
 * start again after the last pet. A `next` that does not grow is the error `unexpected_response`: it would never end.
 */
export async function* pagesOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Page, E | UnexpectedResponseError>, void, undefined> {
  let { after } = input;
  do {
    const page = await pets.listPets({ ...input, after });
    yield page;
    if (page.isErr()) return;
    const { next } = page.value;
    if (next !== undefined && after !== undefined && next <= BigInt(after)) {
      yield err(unexpectedResponse(MALFORMED, operations.listPets.success, undefined));
      return;
    }
    after = next;
  } while (after !== undefined);
}

/** Returns the pets after `input.after`, page by page. `input.limit` is the size of a page. An error is the last result. */
export async function* petsOf<Page extends PetPage, E>(
  pets: PetLister<Page, E>,
  input: ListPetsInput = {},
): AsyncGenerator<Result<Pet, E | UnexpectedResponseError>, void, undefined> {
  for await (const page of pagesOf(pets, input)) {
    if (page.isErr()) yield err(page.error);
    else for (const pet of page.value.pets) yield ok(pet);
  }
}
