import { isUtf8 } from "node:buffer";
import { parse as parseLosslessly } from "lossless-json";
import { err, ok, type Result } from "neverthrow";
import { malformedJson, type MalformedJson } from "../refusal.js";
import { isDeeperThan } from "./depth.js";
import { readInteger } from "./integer.js";

/** How deep arrays and objects may nest (RFC 8259, section 9, lets a parser set a limit). */
const MAX_DEPTH = 1_000;

/** Whether text may hold a number that JSON.parse rounds, or that is an integer in disguise. */
const MAY_ROUND = /\d{16}|\d[.eE]/;

/**
 * Reads a JSON text in UTF-8 (RFC 8259). An integer of at most 15 digits is a number; where the text
 * has longer numbers, or fractions or exponents, every int64 is its exact bigint and every other
 * number NaN. Of members with the same name the last counts; `__proto__` is a name like any other.
 * A byte order mark is not JSON.
 */
export function decodeJson(bytes: Uint8Array): Result<unknown, MalformedJson> {
  if (!isUtf8(bytes)) return err(malformedJson("The body is not UTF-8."));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(MAX_DEPTH, text)) return err(malformedJson("The body nests too deeply."));
    return ok(MAY_ROUND.test(text) ? parseExactly(text) : value);
  } catch {
    return err(malformedJson("The body is not valid JSON."));
  }
}

function parseExactly(text: string): unknown {
  return parseLosslessly(text, null, {
    parseNumber: readInteger,
    onDuplicateKey: ({ newValue }) => newValue,
  });
}
