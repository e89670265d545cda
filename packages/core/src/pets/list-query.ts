import { err, ok, type Result } from "neverthrow";
import { invalidQuery, type InvalidQuery } from "../errors.js";
import { ownField } from "../validation.js";
import { int64Problem, toInt64 } from "./int64.js";
import { isPetStatus, petStatuses, type Pet, type PetStatus } from "./pet.js";

/** The bounds of a page (specification, "Page size"). */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** Which pets to list. */
export interface ListPetsInput {
  /** The size of the page: an integer from 1 to 100; 20 by default. */
  readonly limit?: number | undefined;
  /** Only pets with this status; pets of every status by default. */
  readonly status?: PetStatus | undefined;
  /** Only pets whose id is greater than this int64: the `next` of the previous page. */
  readonly after?: bigint | number | undefined;
}

/** A validated list query. */
export interface PetQuery {
  readonly limit: number;
  readonly status: PetStatus | undefined;
  readonly after: bigint | undefined;
}

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The id to pass as `after` for the next page; `undefined` on the last page. */
  readonly next: bigint | undefined;
}

const LIMIT = `limit must be an integer from ${PAGE_LIMIT.minimum} to ${PAGE_LIMIT.maximum}`;
const STATUS = `status must be one of ${petStatuses.join(", ")}`;

/**
 * Validates a list query (specification, "GET /pets"). Only own properties count. The error names every
 * wrong parameter.
 */
export function parseListQuery(input: unknown): Result<PetQuery, InvalidQuery> {
  if (typeof input !== "object" || input === null) {
    return err(invalidQuery(["the query must be an object"]));
  }
  const limit = ownField(input, "limit", PAGE_LIMIT.default);
  const status = ownField(input, "status");
  const after = ownField(input, "after");
  const afterId = toInt64(after);
  const isStatus = status === undefined || isPetStatus(status);
  const isAfter = after === undefined || afterId !== undefined;
  if (isPageLimit(limit) && isStatus && isAfter) return ok({ limit, status, after: afterId });

  const problems: string[] = [];
  if (!isPageLimit(limit)) problems.push(LIMIT);
  if (!isStatus) problems.push(STATUS);
  if (!isAfter) problems.push(int64Problem("after", after));
  return err(invalidQuery(problems));
}

function isPageLimit(limit: unknown): limit is number {
  return (
    Number.isInteger(limit) &&
    Number(limit) >= PAGE_LIMIT.minimum &&
    Number(limit) <= PAGE_LIMIT.maximum
  );
}
