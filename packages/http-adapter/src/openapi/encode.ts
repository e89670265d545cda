import { INT64_MAX, INT64_MIN } from "@petstore/core";
import type { OpenApiDocument } from "./document.js";

/**
 * Writes an OpenAPI document as JSON text. The bounds of int64 are exact to the last digit, which
 * `JSON.stringify` would round, so that generators with big integers read them right.
 */
export function encodeOpenApiDocument(document: OpenApiDocument): string {
  return JSON.stringify(document)
    .replaceAll(`:${String(Number(INT64_MIN))}`, `:${String(INT64_MIN)}`)
    .replaceAll(`:${String(Number(INT64_MAX))}`, `:${String(INT64_MAX)}`);
}
