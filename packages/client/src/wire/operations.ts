import type {
  AdmissionError,
  Charged,
  CreatedPet,
  CreatePetError,
  GetPetError,
  ListPetsError,
  PetPage,
  PetResult,
  Quota,
  WithQuota,
} from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import {
  unexpectedResponse,
  type LimitError,
  type TransportError,
  type UnexpectedResponseError,
} from "../errors.js";
import { readNextLink } from "./fields.js";
import type { Head } from "./head.js";
import { field, parseInt64, parseJson, readPet, readPets, writeInt64, writeText } from "./json.js";

/** A response whose body has arrived. */
export interface CompleteResponse {
  readonly head: Head;
  readonly body: string;
}

/** The request of an operation with its input. */
export interface OperationRequest {
  readonly name: "listPets" | "createPet" | "getPet";
  readonly method: "GET" | "POST";
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
  const limit = isObject ? field(input, "limit") : null;
  const status = field(input, "status");
  const after = field(input, "after");
  const parameters = new URLSearchParams();
  if (limit !== undefined)
    parameters.set("limit", typeof limit === "number" ? String(limit) : "null");
  if (status !== undefined) parameters.set("status", typeof status === "string" ? status : "null");
  if (after !== undefined) parameters.set("after", writeInt64(after));
  const query = parameters.toString();
  return {
    name: "listPets",
    method: "GET",
    path: query === "" ? "/pets" : `/pets?${query}`,
    headers: {},
    read: (response) =>
      readResponse(response, 200, ["invalid_query"], (value, { link }) => {
        const pets = readPets(value);
        const next = nextOf(link);
        return pets === undefined || next === "malformed" ? undefined : { pets, next };
      }),
  };
}

/** POST /pets. `isOwnKey` says whether the client made the key, so that no earlier call can have used it. */
export function createPet(
  input: unknown,
  idempotencyKey: string,
  isOwnKey: boolean,
): Operation<CreatedPet, CreatePetError & Charged> {
  return {
    name: "createPet",
    method: "POST",
    path: "/pets",
    headers: { "Content-Type": "application/json", "Idempotency-Key": quote(idempotencyKey) },
    body: writeNewPet(input),
    read: (response) =>
      readResponse(response, 201, CREATE_PET_CODES, (value, { replayed }) => {
        const pet = readPet(value);
        return pet && { pet, replayed: replayed && !isOwnKey };
      }),
  };
}

const CREATE_PET_CODES: readonly Exclude<CreatePetError["code"], AdmissionError["code"]>[] = [
  "invalid_idempotency_key",
  "invalid_pet",
  "idempotency_key_reused",
];

/** GET /pets/{petId}. An id that is not an int64 becomes one that names no pet. */
export function getPet(id: unknown): Operation<PetResult, GetPetError & Charged> {
  const petId = typeof id === "string" ? (parseInt64(id) ?? "null") : writeInt64(id);
  return {
    name: "getPet",
    method: "GET",
    path: `/pets/${petId}`,
    headers: {},
    read: (response) =>
      readResponse(response, 200, ["pet_not_found"], (value) => {
        const pet = readPet(value);
        return pet && { pet };
      }),
  };
}

/** Reads the Error of a 429; `undefined` if its body is not one. */
export function readRefusal({ head, body }: CompleteResponse): WithQuota<LimitError> | undefined {
  const error = readError(tryToParse(body), head, []);
  return error.code === "rate_limit_exceeded" || error.code === "api_key_banned"
    ? error
    : undefined;
}

function writeNewPet(input: unknown): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return "null";
  const status = field(input, "status");
  const fields = [
    `"name":${writeText(field(input, "name"))}`,
    `"categoryId":${writeInt64(field(input, "categoryId"))}`,
    ...(status === undefined ? [] : [`"status":${writeText(status)}`]),
  ];
  return `{${fields.join()}}`;
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
  return parseInt64(after) ?? "malformed";
}

/** The quota where something has removed its headers: a stored pet is no error because of that. */
const UNKNOWN_WINDOW = { limit: Infinity, remaining: Infinity, resetAt: 0 };
const UNKNOWN_QUOTA: Quota = { ...UNKNOWN_WINDOW, minute: UNKNOWN_WINDOW, day: UNKNOWN_WINDOW };

/** Reads a response: the expected one, an Error with a code of the operation or of every operation, or neither. */
function readResponse<T extends object, Code extends string>(
  { head, body }: CompleteResponse,
  expected: number,
  codes: readonly Code[],
  readResult: (value: unknown, head: Head) => T | undefined,
) {
  const { status, quota = UNKNOWN_QUOTA, requestId } = head;
  const unexpected = (problem: string) => err(unexpectedResponse(problem, status, requestId));
  const value = tryToParse(body);
  if (value === undefined) return unexpected("It is not JSON.");
  if (status === expected) {
    const result = readResult(value, head);
    if (result === undefined) return unexpected("Its body or its Link is malformed.");
    return ok({ ...result, quota });
  }
  return err(readError(value, head, codes));
}

function tryToParse(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

function readError<Code extends string>(
  value: unknown,
  head: Head,
  codes: readonly Code[],
): CodedError<Code> | WithQuota<AdmissionError> | UnexpectedResponseError {
  const { status, quota = UNKNOWN_QUOTA, requestId } = head;
  const [code, message] = [field(value, "code"), field(value, "message")];
  if (
    typeof code !== "string" ||
    typeof message !== "string" ||
    field(value, "status") !== status
  ) {
    return unexpectedResponse("It is not an Error of the pet store.", status, requestId);
  }
  const own = codes.find((each) => each === code);
  if (own !== undefined) return { code: own, message, quota };
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
