import { windowNames } from "@petstore/core/facts";

const DRAFT = "if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).";
const text = { type: "string" };

/** The headers of the document. `NextPage` is sent as `Link`. */
export const headers = {
  "X-RateLimit-Limit": count(
    `The limit that applies to the API key: per ${windowNames.join(" or per ")}, whichever has fewer requests left.`,
    60,
  ),
  "X-RateLimit-Remaining": count("The requests left in the current window.", 59),
  "X-RateLimit-Reset": count(
    "The Unix timestamp, in seconds, at which the limit resets.",
    1893456060,
  ),
  "Cache-Control": oneOf("Responses depend on the API key and must not be stored.", "no-store"),
  "X-Content-Type-Options": oneOf("The media type must not be guessed from the body.", "nosniff"),
  "Retry-After": count(
    "The seconds to wait. A client that waits exactly this long after a 429 is served.",
    60,
    1,
  ),
  "WWW-Authenticate": oneOf(
    "How to authenticate (RFC 6750, section 3).",
    'Bearer realm="petstore"',
    'Bearer realm="petstore", error="invalid_token"',
  ),
  Accept: optional(
    oneOf("The supported media type, if the media type was the problem.", "application/json"),
  ),
  "Accept-Encoding": optional(
    oneOf("The supported content coding, if the content coding was the problem.", "identity"),
  ),
  Location: header(
    "The path of the new pet.",
    { type: "string", format: "uri-reference" },
    "/v1/pets/1",
  ),
  "Idempotent-Replayed": optional(
    oneOf("Sent if an earlier request with the same Idempotency-Key created the pet.", "true"),
  ),
  NextPage: optional(
    header(
      "The next page, if there is one (RFC 8288), as a reference relative to the URL of the request.",
      { type: "string", pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$' },
      '<?limit=2&after=2>; rel="next"',
    ),
  ),
  "X-Request-Id": optional(
    header(
      "The id of the request in the log of the service, or the one that the client sent.",
      text,
      "0b6a7d1e-5c0f-4d7e-9a58-6f1f0d3b2c4a",
    ),
  ),
  RateLimit: optional(header(`The requests left in each window, ${DRAFT}`, text)),
  "RateLimit-Policy": optional(header(`The plan's windows, ${DRAFT}`, text)),
};

function header(description: string, schema: object, example?: string | number) {
  return { description, required: true, schema, ...(example !== undefined && { example }) };
}

function optional<Header extends object>(one: Header) {
  return { ...one, required: false };
}

function count(description: string, example: number, minimum = 0) {
  return header(description, { type: "integer", minimum }, example);
}

/** One of these texts. Not `const`: generators do not know it without a type. */
function oneOf(description: string, ...texts: readonly string[]) {
  return header(description, { type: "string", enum: texts });
}
