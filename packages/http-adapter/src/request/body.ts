import { isUtf8 } from "node:buffer";
import { ownField } from "@petstore/core/facts";
import { mayRound, parseExactly, withoutStrings } from "@petstore/wire";
import { err, ok, type Result } from "neverthrow";
import { badRequest, malformedJson, type HttpError } from "../error.js";
import type { HttpBody } from "../http-message.js";

/** Parses a body as JSON of any shape; the engine validates the value. */
export function parseBody(body: HttpBody): Result<unknown, HttpError> {
  if (body.kind === "bytes") return decodeJson(body.bytes);
  const categoryId = ownField(body.value, "categoryId");
  const size = typeof categoryId === "number" ? Math.abs(categoryId) : 0;
  return size > Number.MAX_SAFE_INTEGER ? err(badRequest(ROUNDED)) : ok(body.value);
}

const ROUNDED =
  "categoryId is beyond 2^53 and a body parser has rounded it: mount the pet store before the body parser.";

/** The deepest nesting of arrays and objects (RFC 8259, section 9, lets a parser set a limit). */
const MAX_DEPTH = 1_000;

/**
 * Reads a JSON text in UTF-8 (RFC 8259). An integer of at most 15 digits is a number; if the text has longer numbers,
 * fractions or exponents, every int64 is an exact bigint and every other number is NaN. Of members with the same name,
 * the last one counts; `__proto__` is a name like any other. A byte order mark is not JSON.
 */
export function decodeJson(bytes: Uint8Array): Result<unknown, HttpError<"malformed_json">> {
  if (!isUtf8(bytes)) return err(malformedJson("The body is not UTF-8."));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    if (text.length > MAX_DEPTH && isDeeperThan(MAX_DEPTH, text))
      return err(malformedJson("The body nests too deeply."));
    return ok(mayRound(text) ? parseExactly(text) : value);
  } catch {
    return err(malformedJson());
  }
}

function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  for (const bracket of withoutStrings(text).match(/[[\]{}]/g) ?? []) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > limit) return true;
  }
  return false;
}
