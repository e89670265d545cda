import type {
  AdmissionError,
  Charged,
  CreatedPet,
  CreatePetError,
  GetPetError,
  ListPetsError,
  ListPetsInput,
  PetPage,
  PetResult,
  Quota,
  WithQuota,
} from "@petstore/core";
import type { OperationName } from "@petstore/core/facts";
import { eachWindow, parseInt64, toInt64 } from "@petstore/core/facts";
import {
  encodeNewPet,
  mayRound,
  operations,
  ownField as field,
  type OperationFacts,
  parseExactly,
  readPet,
  readPets,
} from "@petstore/wire";
import { err, ok, type Result } from "neverthrow";
import {
  unexpectedResponse,
  type LimitError,
  type TransportError,
  type UnexpectedResponseError,
} from "../errors.js";
import { readNextLink } from "./fields.js";
import type { Head } from "./head.js";

/** A response whose body has arrived. */
export interface CompleteResponse {
  readonly head: Head;
  readonly body: string;
}

/** The request of an operation with its input. */
export interface OperationRequest {
  readonly name: OperationName;
  readonly method: OperationFacts["method"];
  /** Below the base URL, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How a call of an operation ends; `E` is the operation's own errors. */
export type Outcome<T, E> = Result<T & Charged, E | WithQuota<AdmissionError> | TransportError>;

/** An operation with its input: its request, and how its responses are read. */
export interface Operation<T, E extends { readonly code: string }> extends OperationRequest {
  read(response: CompleteResponse): Outcome<T, E>;
}

/** GET /pets. Input that a query cannot carry becomes input that the server refuses. */
export function listPets(input: unknown): Operation<PetPage, ListPetsError & Charged> {
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

/** The text of each parameter in a query. */
const listParameters: { readonly [Name in keyof ListPetsInput]-?: (value: unknown) => string } = {
  limit: (value) => (typeof value === "number" ? String(value) : "null"),
  status: (value) => (typeof value === "string" ? value : "null"),
  after: int64Text,
};

/** POST /pets. `isOwnKey` says whether the client made the key, so that no earlier call can have used it. */
export function createPet(
  input: unknown,
  idempotencyKey: string,
  isOwnKey: boolean,
): Operation<CreatedPet, CreatePetError & Charged> {
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
export function getPet(id: unknown): Operation<PetResult, GetPetError & Charged> {
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

/** Reads the Error of a 429; `undefined` if its body is not one. */
export function readRefusal({ head, body }: CompleteResponse): WithQuota<LimitError> | undefined {
  const error = readError(tryToParse(body), head, {});
  return error.code === "rate_limit_exceeded" || error.code === "api_key_banned"
    ? error
    : undefined;
}

/** The request of an operation without input. */
function requestOf(name: OperationName): OperationRequest {
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

/** Returns the `after` of the next page in a Link; `undefined` if there is no next page. */
function nextOf(link: string): bigint | "malformed" | undefined {
  const target = readNextLink(link);
  if (target === undefined) return undefined;
  const after = new URLSearchParams(target.slice(target.indexOf("?"))).get("after");
  return parseInt64(after ?? "") ?? "malformed";
}

/** The quota where something has removed its headers: a stored pet is no error because of that. */
const UNKNOWN_WINDOW = { limit: Infinity, remaining: Infinity, resetAt: 0 };
const UNKNOWN_QUOTA: Quota = { ...UNKNOWN_WINDOW, ...eachWindow(() => UNKNOWN_WINDOW) };

/** Reads a response: the expected one, an Error with a code of the operation or of every operation, or neither. */
function readResponse<T extends object, Code extends string>(
  { head, body }: CompleteResponse,
  { success, errors }: { readonly success: number; readonly errors: OwnErrors<Code> },
  readResult: (value: unknown, head: Head) => T | undefined,
) {
  const { status, quota = UNKNOWN_QUOTA, requestId } = head;
  const unexpected = (problem: string) => err(unexpectedResponse(problem, status, requestId));
  const value = status === success && success === 204 ? null : tryToParse(body);
  if (value === undefined) return unexpected("It is not JSON.");
  if (status === success) {
    const result = readResult(value, head);
    if (result === undefined) return unexpected("Its body or its Link is malformed.");
    return ok({ ...result, quota });
  }
  return err(readError(value, head, errors));
}

function tryToParse(body: string): unknown {
  try {
    // First as it is: `parseExactly` takes valid JSON.
    const value: unknown = JSON.parse(body);
    return mayRound(body) ? parseExactly(body) : value;
  } catch {
    return undefined;
  }
}

function readError<Code extends string>(
  value: unknown,
  head: Head,
  errors: OwnErrors<Code>,
): CodedError<Code> | WithQuota<AdmissionError> | UnexpectedResponseError {
  const { status, quota = UNKNOWN_QUOTA, requestId } = head;
  const [code, message] = [field(value, "code"), field(value, "message")];
  if (
    typeof code !== "string" ||
    typeof message !== "string" ||
    toInt64(field(value, "status")) !== BigInt(status)
  ) {
    return unexpectedResponse("It is not an Error of the pet store.", status, requestId);
  }
  if (isOwn(code, errors)) return { code, message, quota };
  const error = readAdmissionError(code, message, quota, head);
  if (error !== undefined) return error;
  return unexpectedResponse(`${code}: ${message}`, status, requestId);
}

interface CodedError<Code extends string> extends Charged {
  readonly code: Code;
  readonly message: string;
}

function readAdmissionError(
  code: string,
  message: string,
  quota: Quota,
  { status, retryAfter = 0 }: Head,
): WithQuota<AdmissionError> | undefined {
  const retryAfterSeconds = Math.ceil(retryAfter / 1_000);
  switch (code) {
    case "missing_api_key":
    case "invalid_api_key":
    case "store_closed":
      return { code, message, quota };
    case "storage_unavailable":
      return { code, message, quota, cause: undefined };
    case "rate_limit_exceeded":
      if (status !== 429) return undefined;
      return { code, message, quota, window: quota.window, retryAfterSeconds };
    case "api_key_banned":
      if (status !== 429) return undefined;
      return { code, message, quota, retryAfterSeconds };
    default:
      return undefined;
  }
}

type OwnErrors<Code extends string> = Readonly<Record<Code, true>>;

function isOwn<Code extends string>(code: string, errors: OwnErrors<Code>): code is Code {
  return Object.hasOwn(errors, code);
}
