import { MIMEType } from "node:util";
import { err, ok, type Result } from "neverthrow";
import {
  badRequest,
  payloadTooLarge,
  unsupportedContentCoding,
  unsupportedMediaType,
  type BadRequest,
  type MalformedJson,
  type PayloadTooLarge,
  type UnsupportedMediaType,
} from "./error.js";
import type { HttpBody, HttpRequest } from "./http-message.js";
import { decodeJson } from "./json.js";

/**
 * Checks the headers that describe a body, before any of it is read: length, media type and content
 * coding. A body without a media type is treated as JSON.
 */
export function checkContent(
  request: HttpRequest,
  limit: number,
): Result<void, PayloadTooLarge | UnsupportedMediaType> {
  if (Number(request.lines("content-length")[0] ?? 0) > limit) return err(payloadTooLarge(limit));
  const types = request.lines("content-type");
  if (types.length > 0 && !isJson(types.join(", "))) return err(unsupportedMediaType());
  return request.lines("content-encoding").every(isIdentity)
    ? ok()
    : err(unsupportedContentCoding());
}

/** Parses a body as JSON of any shape; the engine validates the value. */
export function parseBody(body: HttpBody): Result<unknown, MalformedJson | BadRequest> {
  if (body.kind === "bytes") return decodeJson(body.bytes);
  return hasRoundedCategory(body.value) ? err(badRequest(ROUNDED)) : ok(body.value);
}

/** Longer than any useful media type. Node's parser takes quadratic time for some values. */
const LONGEST_TYPE = 256;

function isJson(contentType: string): boolean {
  if (contentType === "application/json") return true;
  if (contentType.length > LONGEST_TYPE) return false;
  try {
    const { essence, params } = new MIMEType(contentType);
    const charset = params.get("charset") ?? "utf-8";
    return essence === "application/json" && charset.toLowerCase() === "utf-8";
  } catch {
    return false;
  }
}

/** An empty value is an empty list of codings. */
function isIdentity(contentCoding: string): boolean {
  return contentCoding === "" || contentCoding.toLowerCase() === "identity";
}

const ROUNDED =
  "categoryId is beyond 2^53 and a body parser has rounded it: mount the pet store before the body parser.";

function hasRoundedCategory(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("categoryId" in value)) return false;
  const { categoryId } = value;
  return typeof categoryId === "number" && Math.abs(categoryId) > Number.MAX_SAFE_INTEGER;
}

/** The bytes of a body that have arrived. */
export interface Bytes {
  /** Adds a chunk. Returns false, and adds nothing, if it would exceed the limit. */
  add(chunk: Uint8Array): boolean;
  /** Returns all bytes added so far. */
  all(): Uint8Array;
}

/** More chunks than this are joined, so that chunks of one byte do not cost an object each. */
const MOST_CHUNKS = 1_024;

/** Collects at most `limit` bytes. */
export function collectBytes(limit: number): Bytes {
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add: (chunk) => {
      if (length + chunk.length > limit) return false;
      length += chunk.length;
      chunks.push(chunk);
      if (chunks.length > MOST_CHUNKS) chunks = [Buffer.concat(chunks)];
      return true;
    },
    all: () => Buffer.concat(chunks),
  };
}
