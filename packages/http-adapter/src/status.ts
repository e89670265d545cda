import type { PetStoreError } from "@petstore/core";
import { match, P } from "ts-pattern";
import type { Refusal } from "./refusal.js";

/** Every error that a response can carry: closed on `code`. */
export type Failure = PetStoreError | Refusal;

/** The HTTP status of each error code (specification, "Errors"). */
export function statusOf(code: Failure["code"]): number {
  return match(code)
    .with(P.union("bad_request", "malformed_json", "invalid_query", "invalid_pet"), () => 400)
    .with(P.union("missing_api_key", "invalid_api_key"), () => 401)
    .with(P.union("not_found", "pet_not_found"), () => 404)
    .with("method_not_allowed", () => 405)
    .with("request_timeout", () => 408)
    .with("payload_too_large", () => 413)
    .with("unsupported_media_type", () => 415)
    .with("expectation_failed", () => 417)
    .with(P.union("rate_limit_exceeded", "api_key_banned"), () => 429)
    .with("headers_too_large", () => 431)
    .with("internal_error", () => 500)
    .with(P.union("storage_unavailable", "store_closed"), () => 503)
    .exhaustive();
}
