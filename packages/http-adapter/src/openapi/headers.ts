import { windowNames } from "@petstore/core/facts";

const text = { schema: { type: "string" } };
const DRAFT = "if the service is configured so (draft-ietf-httpapi-ratelimit-headers-11).";

/** The headers of the document. `NextPage` is sent as `Link`. */
export const headers = {
  "X-RateLimit-Limit": header(
    `The limit that applies to the API key: per ${windowNames.join(" or per ")}, whichever has fewer requests left.`,
    integer(0, 60),
  ),
  "X-RateLimit-Remaining": header("The requests left in the current window.", integer(0, 59)),
  "X-RateLimit-Reset": header(
    "The Unix timestamp, in seconds, at which the limit resets.",
    integer(0, 1893456060),
  ),
  "Cache-Control": header(
    "Responses depend on the API key and must not be stored.",
    oneOf("no-store"),
  ),
  "X-Content-Type-Options": header(
    "The media type must not be guessed from the body.",
    oneOf("nosniff"),
  ),
  "Retry-After": header(
    "The seconds to wait. A client that waits exactly this long after a 429 is served.",
    integer(1, 60),
  ),
  "WWW-Authenticate": header(
    "How to authenticate (RFC 6750, section 3).",
    oneOf('Bearer realm="petstore"', 'Bearer realm="petstore", error="invalid_token"'),
  ),
  Accept: optional(
    "The supported media type, if the media type was the problem.",
    oneOf("application/json"),
  ),
  "Accept-Encoding": optional(
    "The supported content coding, if the content coding was the problem.",
    oneOf("identity"),
  ),
  Location: header("The path of the new pet.", {
    schema: { type: "string", format: "uri-reference" },
    example: "/v1/pets/1",
  }),
  "Idempotent-Replayed": optional(
    "Sent if an earlier request with the same Idempotency-Key created the pet.",
    oneOf("true"),
  ),
  NextPage: optional(
    "The next page, if there is one (RFC 8288), as a reference relative to the URL of the request.",
    {
      schema: { type: "string", pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$' },
      example: '<?limit=2&after=2>; rel="next"',
    },
  ),
  "X-Request-Id": optional(
    "The id of the request in the log of the service, or the one that the client sent.",
    { ...text, example: "0b6a7d1e-5c0f-4d7e-9a58-6f1f0d3b2c4a" },
  ),
  RateLimit: optional(`The requests left in each window, ${DRAFT}`, text),
  "RateLimit-Policy": optional(`The plan's windows, ${DRAFT}`, text),
};

interface Content {
  schema: object;
  example?: string | number;
}

function header(description: string, content: Content, required = true) {
  return { description, required, ...content };
}

function optional(description: string, content: Content) {
  return header(description, content, false);
}

function integer(minimum: number, example: number) {
  return { schema: { type: "integer", minimum }, example };
}

/** One of these texts. Not `const`: generators do not know it without a type. */
function oneOf(...texts: readonly string[]) {
  return { schema: { type: "string", enum: texts } };
}
