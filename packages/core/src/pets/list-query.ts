import { err, ok, type Result } from "neverthrow";
import { invalidQuery, type InvalidQuery } from "../errors.js";
import { isObject, ownField } from "../input.js";
import { toInt64 } from "./int64.js";
import { isPetStatus, petStatuses, type Pet, type PetStatus } from "./pet.js";

/** The bounds of a page (specification, "Page size"). */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** What a caller passes to list animals. */
export interface ListPetsInput {
  /** How many animals at most: an integer from 1 to 100; 20 when left out. */
  readonly limit?: number | undefined;
  /** Only animals with this status; all when left out. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater than this int64: the `next` of the page before. */
  readonly after?: bigint | number | undefined;
}

/** A validated list query. */
export interface PetQuery {
  readonly limit: number;
  readonly status: PetStatus | undefined;
  readonly after: bigint | undefined;
}

/** One page of animals, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The id to pass as `after` for the next page, or `undefined` when this page is the last. */
  readonly next: bigint | undefined;
}

const LIMIT = `limit must be an integer from ${PAGE_LIMIT.minimum} to ${PAGE_LIMIT.maximum}`;
const STATUS = `status must be one of ${petStatuses.join(", ")}`;
const AFTER = "after must be an int64 integer";

/**
 * Validates a list query (specification, "GET /pets"). Only own properties count, and each is read
 * once. The error names every wrong parameter.
 */
export function parseListQuery(input: ListPetsInput): Result<PetQuery, InvalidQuery> {
  if (!isObject(input)) return err(invalidQuery(["the query must be an object"]));

  const limit = ownField(input, "limit", PAGE_LIMIT.default);
  const status = ownField(input, "status");
  const after = ownField(input, "after");
  const afterId = toInt64(after);
  const isStatus = status === undefined || isPetStatus(status);
  const isAfter = after === undefined || afterId !== undefined;
  if (isPageLimit(limit) && isStatus && isAfter) return ok({ limit, status, after: afterId });
  return err(
    invalidQuery([
      ...(isPageLimit(limit) ? [] : [LIMIT]),
      ...(isStatus ? [] : [STATUS]),
      ...(isAfter ? [] : [AFTER]),
    ]),
  );
}

function isPageLimit(limit: unknown): limit is number {
  return (
    typeof limit === "number" &&
    Number.isInteger(limit) &&
    limit >= PAGE_LIMIT.minimum &&
    limit <= PAGE_LIMIT.maximum
  );
}
