import type { KeyError, PetStoreError } from "@petstore/core";

/** The HTTP status of each error of the engine (specification, "Errors"); the adapter adds those of its own. */
export const statuses: Readonly<Record<(PetStoreError | KeyError)["code"], number>> = {
  invalid_query: 400,
  invalid_pet: 400,
  invalid_idempotency_key: 400,
  invalid_key_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  pet_not_found: 404,
  key_not_found: 404,
  key_inactive: 409,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  api_key_banned: 429,
  storage_unavailable: 503,
  store_closed: 503,
};
