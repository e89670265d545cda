import { err, ok, type Result } from "neverthrow";
import { checkContent } from "./content.js";
import type { HttpBody, HttpRequest } from "./http-message.js";
import { decodeJson } from "./json/decode.js";
import {
  badRequest,
  type BadRequest,
  type MalformedJson,
  type UnreadableMessage,
  type UnsupportedMediaType,
} from "./refusal.js";

/** Why a body could not be read as JSON. */
export type BodyRefusal = UnreadableMessage | UnsupportedMediaType | MalformedJson;

/** Reads the body of POST /pets: JSON of any shape, for the engine to judge. */
export function readNewPetBody(
  request: HttpRequest,
  limit: number,
): PromiseLike<Result<unknown, BodyRefusal>> {
  const content = checkContent(request, limit);
  if (content.isErr()) return Promise.resolve(err(content.error));
  return request
    .readBody(limit)
    .then((body) => (body.isErr() ? err(body.error) : valueOf(body.value)));
}

function valueOf(body: HttpBody): Result<unknown, MalformedJson | BadRequest> {
  if (body.kind === "bytes") return decodeJson(body.bytes);
  return hasRoundedCategory(body.value) ? err(badRequest(ROUNDED)) : ok(body.value);
}

const ROUNDED =
  "categoryId is beyond 2^53 and a body parser has rounded it: mount the pet store before the body parser.";

function hasRoundedCategory(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("categoryId" in value)) return false;
  const { categoryId } = value;
  return typeof categoryId === "number" && Math.abs(categoryId) > Number.MAX_SAFE_INTEGER;
}
