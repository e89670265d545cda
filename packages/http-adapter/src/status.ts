import type { PetStoreError } from "@petstore/core";
import type { Refusal } from "./refusal.js";

/** Every error that a response can carry: closed on `code`. */
export type Failure = PetStoreError | Refusal;

/** The HTTP status of each error code (specification, "Errors"). */
const STATUS: Readonly<Record<Failure["code"], number>> = {
  bad_request: 400,
  malformed_json: 400,
  invalid_query: 400,
  invalid_pet: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  not_found: 404,
  pet_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  rate_limit_exceeded: 429,
  api_key_banned: 429,
  headers_too_large: 431,
  internal_error: 500,
  storage_unavailable: 503,
  store_closed: 503,
};

/** The HTTP status of an error code. */
export function statusOf(code: Failure["code"]): number {
  return STATUS[code];
}
