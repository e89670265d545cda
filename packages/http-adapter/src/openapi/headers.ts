import { windowNames } from "@petstore/core/facts";

const count = { type: "integer", minimum: 0 };
const text = { type: "string" };
const DRAFT = "if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).";

/** The headers of the document. `NextPage` is sent as `Link`. */
export const headers = {
  "X-RateLimit-Limit": header(
    `The limit that applies to the API key: per ${windowNames.join(" or per ")}, whichever has fewer requests left.`,
    { schema: count, example: 60 },
  ),
  "X-RateLimit-Remaining": header("The requests left in the current window.", {
    schema: count,
    example: 59,
  }),
  "X-RateLimit-Reset": header("The Unix timestamp, in seconds, at which the limit resets.", {
    schema: count,
    example: 1893456060,
  }),
  "Cache-Control": header("Responses depend on the API key and must not be stored.", {
    schema: oneOf("no-store"),
  }),
  "X-Content-Type-Options": header("The media type must not be guessed from the body.", {
    schema: oneOf("nosniff"),
  }),
  "Retry-After": header(
    "The seconds to wait. A client that waits exactly this long after a 429 is served.",
    { schema: { type: "integer", minimum: 1 }, example: 60 },
  ),
  "WWW-Authenticate": header("How to authenticate (RFC 6750, section 3).", {
    schema: oneOf('Bearer realm="petstore"', 'Bearer realm="petstore", error="invalid_token"'),
  }),
  Accept: header("The supported media type, if the media type was the problem.", {
    required: false,
    schema: oneOf("application/json"),
  }),
  "Accept-Encoding": header(
    "The supported content coding, if the content coding was the problem.",
    { required: false, schema: oneOf("identity") },
  ),
  Location: header("The path of the new pet.", {
    schema: { type: "string", format: "uri-reference" },
    example: "/v1/pets/1",
  }),
  "Idempotent-Replayed": header(
    "Sent if an earlier request with the same Idempotency-Key created the pet.",
    { required: false, schema: oneOf("true") },
  ),
  NextPage: header(
    "The next page, if there is one (RFC 8288), as a reference relative to the URL of the request.",
    {
      required: false,
      schema: { type: "string", pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$' },
      example: '<?limit=2&after=2>; rel="next"',
    },
  ),
  "X-Request-Id": header(
    "The id of the request in the log of the service, or the one that the client sent.",
    { required: false, schema: text, example: "0b6a7d1e-5c0f-4d7e-9a58-6f1f0d3b2c4a" },
  ),
  RateLimit: header(`The requests left in each window, ${DRAFT}`, {
    required: false,
    schema: text,
  }),
  "RateLimit-Policy": header(`The plan's windows, ${DRAFT}`, { required: false, schema: text }),
};

function header(
  description: string,
  more: { schema: object; required?: boolean; example?: string | number },
) {
  return { description, required: true, ...more };
}

/** One of these texts. Not `const`: generators do not know it without a type. */
function oneOf(...texts: readonly string[]) {
  return { type: "string", enum: texts };
}
