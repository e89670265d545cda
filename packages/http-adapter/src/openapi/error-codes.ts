import { statusOf, type Failure } from "../status.js";

/** An error code of the service. */
export type ErrorCode = Failure["code"];

/** An operation of the specification ("Endpoints"). */
export type OperationName = "listPets" | "createPet" | "getPet";

/** What a reader should know of an error code. */
interface ErrorMeaning {
  /**
   * Which operations answer it: all; all, from the message alone, so that it may not be known which
   * operation was meant; these; or none, where a request asks for no operation.
   */
  readonly from: "all" | "message" | "none" | readonly OperationName[];
  /** When it is answered: a sentence. */
  readonly when: string;
  /** A message that comes with it. */
  readonly message: string;
}

/** Every error code there is: closed by its type. */
export const errorMeanings: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  bad_request: {
    from: "message",
    when: "The message is not valid HTTP, or its body ended early.",
    message: "There is more than one Host header.",
  },
  malformed_json: {
    from: ["createPet"],
    when: "The body is no JSON text in UTF-8.",
    message: "The body is not valid JSON.",
  },
  invalid_query: {
    from: ["listPets"],
    when: "A parameter is out of its bounds; the message names it.",
    message: "limit must be an integer from 1 to 100.",
  },
  invalid_pet: {
    from: ["createPet"],
    when: "The pet is missing required fields or has invalid values; the message names each.",
    message: "categoryId must be an int64 integer.",
  },
  missing_api_key: {
    from: "all",
    when: "No API key was sent.",
    message: "An API key is required: send it as a bearer token.",
  },
  invalid_api_key: {
    from: "all",
    when: "The API key is malformed, unknown, revoked or expired.",
    message: "The API key is not valid.",
  },
  not_found: {
    from: "none",
    when: "Nothing is at this path.",
    message: "Nothing is at this path.",
  },
  pet_not_found: {
    from: ["getPet"],
    when: "No pet has this id, or it is no int64 in canonical decimal form.",
    message: "No pet has this id.",
  },
  method_not_allowed: {
    from: "none",
    when: "The path does not answer this method.",
    message: "This path answers GET, HEAD, POST only.",
  },
  request_timeout: {
    from: "message",
    when: "The request took too long to arrive.",
    message: "The request took too long to arrive.",
  },
  payload_too_large: {
    from: ["createPet"],
    when: "The body is longer than the server allows.",
    message: "The body must not be longer than 65536 bytes.",
  },
  unsupported_media_type: {
    from: ["createPet"],
    when: "The body is not JSON in UTF-8, or is compressed.",
    message: "The body must be application/json in UTF-8.",
  },
  expectation_failed: {
    from: "all",
    when: "The request expects something other than `100-continue`.",
    message: "The only expectation that can be met is 100-continue.",
  },
  headers_too_large: {
    from: "message",
    when: "The header section is too long.",
    message: "The header section is too long.",
  },
  rate_limit_exceeded: {
    from: "all",
    when: "A limit of the plan is used up.",
    message: "The limit of 60 requests per minute is used up; come back in 60 seconds.",
  },
  api_key_banned: {
    from: "all",
    when: "The key kept sending after refusals.",
    message:
      "The API key kept sending after refusals and is banned for a while; come back in 60 seconds.",
  },
  internal_error: {
    from: "all",
    when: "A defect of the service.",
    message: "Something went wrong on our side.",
  },
  storage_unavailable: {
    from: "all",
    when: "The storage failed; nothing was done.",
    message: "The storage is unavailable; nothing was done. Try again shortly.",
  },
  store_closed: {
    from: "all",
    when: "The service is shutting down.",
    message: "The store is closed.",
  },
};

/** Every error code. */
export const errorCodes: readonly ErrorCode[] = Object.keys(errorMeanings).filter(isErrorCode);

/** The codes that an operation answers, or those that are answered to none, by their status. */
export function codesByStatus(
  operation: OperationName | undefined,
): ReadonlyMap<number, readonly ErrorCode[]> {
  const groups = new Map<number, readonly ErrorCode[]>();
  for (const code of errorCodes) {
    if (!isFrom(errorMeanings[code].from, operation)) continue;
    const status = statusOf(code);
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorMeanings, text);
}

function isFrom(from: ErrorMeaning["from"], operation: OperationName | undefined): boolean {
  if (operation === undefined) return from === "none";
  return from === "all" || from === "message" || from.includes(operation);
}
