import { parseIdempotencyKey, type InvalidIdempotencyKey } from "@petstore/core";
import { ok, type Result } from "neverthrow";

/** A quoted string (RFC 9651, section 3.3.3). */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
/** The characters that a key needs quotes for, because they have a meaning in structured fields. */
const NEEDS_QUOTES = /[",;\\]/;

/** Returns the key in a request's Idempotency-Key lines, quoted or bare; `undefined` if there is no line. */
export function idempotencyKeyOf(
  lines: readonly string[],
): Result<string | undefined, InvalidIdempotencyKey> {
  const [line, ...others] = lines;
  if (line === undefined) return ok(undefined);
  return parseIdempotencyKey(others.length === 0 ? unquoted(line) : "");
}

/** Returns the text of a line; `""`, which is not a key, if it is malformed. */
function unquoted(line: string): string {
  const [, text] = QUOTED.exec(line) ?? [];
  if (text !== undefined) return text.replace(/\\(.)/g, "$1");
  return NEEDS_QUOTES.test(line) ? "" : line;
}
