import { GET_PET_DEPRECATION } from "../deprecation.js";
import type { Header, Reference } from "./document.js";

/** What every answer carries (specification, "Rate limit headers"). */
export const HEADERS_OF_ALL = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Cache-Control",
  "X-Content-Type-Options",
] as const;

/** What every answer of getPet carries beside. */
export const HEADERS_OF_GET_PET = ["Deprecation", "Sunset", "successor.Link"] as const;

/** A header; where two have one name on the wire, it follows a dot. */
export type HeaderName =
  | (typeof HEADERS_OF_ALL)[number]
  | (typeof HEADERS_OF_GET_PET)[number]
  | "Retry-After"
  | "WWW-Authenticate"
  | "Allow"
  | "Accept"
  | "Accept-Encoding"
  | "Location"
  | "next.Link";

/** The headers, by name. */
export const headers: Readonly<Record<HeaderName, Header>> = {
  "X-RateLimit-Limit": {
    description:
      "The limit that applies to the caller: of a minute or of a day, whichever has the fewest requests left.",
    required: true,
    schema: { type: "integer", minimum: 0, examples: [60] },
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in the current window.",
    required: true,
    schema: { type: "integer", minimum: 0, examples: [59] },
  },
  "X-RateLimit-Reset": {
    description: "Unix timestamp at which the limit resets, in seconds.",
    required: true,
    schema: { type: "integer", minimum: 0, examples: [1893456060] },
  },
  "Cache-Control": constant("Answers depend on the API key and are not to be kept.", "no-store"),
  "X-Content-Type-Options": constant("The body is what its type says.", "nosniff"),
  "Retry-After": {
    description: "Seconds to wait; a client that waits exactly that long after a 429 is served.",
    required: true,
    schema: { type: "integer", minimum: 1, examples: [60] },
  },
  "WWW-Authenticate": {
    description: "How to authenticate (RFC 6750, section 3).",
    required: true,
    schema: {
      type: "string",
      enum: ['Bearer realm="petstore"', 'Bearer realm="petstore", error="invalid_token"'],
    },
  },
  Allow: {
    description: "The methods that the path answers.",
    required: true,
    schema: { type: "string", enum: ["GET, HEAD, POST", "GET, HEAD"] },
  },
  Accept: optional("The media type that would do.", "application/json"),
  "Accept-Encoding": optional("The content coding that would do.", "identity"),
  Location: {
    description: "The new pet.",
    required: true,
    schema: { type: "string", format: "uri-reference", examples: ["/v1/pets/1"] },
  },
  "next.Link": {
    description:
      "The next page, where there is one (RFC 8288): a reference relative to the request's address.",
    required: false,
    schema: {
      type: "string",
      pattern: '^<\\?[^>]*after=-?\\d+>; rel="next"$',
      examples: ['<?limit=2&after=2>; rel="next"'],
    },
  },
  Deprecation: constant(
    "Since when the operation is deprecated (RFC 9745).",
    ofGetPet("Deprecation"),
  ),
  Sunset: constant("When the operation is to be removed (RFC 8594).", ofGetPet("Sunset")),
  "successor.Link": constant("What replaces the operation (RFC 5829).", ofGetPet("Link")),
};

/** References to these headers, by the name that each has on the wire. */
export function headerReferences(
  names: readonly HeaderName[],
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    names.map((name) => [nameOnTheWire(name), { $ref: `#/components/headers/${name}` }]),
  );
}

/** The same headers where they may be missing. */
export function optionalHeaders(names: readonly HeaderName[]): Readonly<Record<string, Header>> {
  return Object.fromEntries(
    names.map((name) => [nameOnTheWire(name), { ...headers[name], required: false }]),
  );
}

function nameOnTheWire(name: HeaderName): string {
  return name.replace(/^.*\./, "");
}

function constant(description: string, value: string): Header {
  return { description, required: true, schema: { type: "string", const: value } };
}

function optional(description: string, value: string): Header {
  return { ...constant(description, value), required: false };
}

function ofGetPet(name: keyof typeof GET_PET_DEPRECATION): string {
  return GET_PET_DEPRECATION[name];
}
