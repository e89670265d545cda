import { err, ok, type Result } from "neverthrow";
import { invalidQuery, type CodedError } from "../errors.js";
import { isIntegerFrom, ownField, type EachField } from "../validation/fields.js";
import { int64Problem, toInt64 } from "./int64.js";
import { isPetStatus, type PetStatus } from "./pet-status.js";
import { jsonBytes, STATUS, type NewPet, type Pet } from "./pet.js";

/** The bounds of a page's limit, in pets (specification, "Page size"). */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** About the most bytes of a page's JSON, in UTF-8: 1 MiB. A page has at least one pet, however large that is. */
export const PAGE_BYTES = 1_048_576;

export interface ListPetsInput {
  /** The most pets of the page: an integer from 1 to 100; 20 by default. Large pets fill a page earlier (`PAGE_BYTES`). */
  readonly limit?: number | undefined;
  /** Only pets with this status; pets of every status by default. */
  readonly status?: PetStatus | undefined;
  /** Only pets whose id is greater than this int64: the `next` of the previous page. */
  readonly after?: bigint | number | undefined;
}

/** The fields of a pet by whose value a list can be filtered. */
export const petFilters = ["status"] as const satisfies readonly (keyof NewPet &
  keyof ListPetsInput)[];

/** The value that each of these fields must have; any, if it is left out or `undefined`. */
export type PetFilter = {
  readonly [Field in (typeof petFilters)[number]]?: NewPet[Field] | undefined;
};

export interface PetQuery extends PetFilter {
  readonly limit: number;
  readonly after: bigint | undefined;
}

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The id to pass as `after` for the next page; `undefined` on the last page. */
  readonly next: bigint | undefined;
}

/** Makes a page of pets in ascending order of id; reads one more, if there is one, to know whether more follow. */
export function pageOf(found: Iterable<Pet>, limit: number): PetPage {
  const pets: Pet[] = [];
  let bytes = 0;
  for (const pet of found) {
    bytes += jsonBytes(pet);
    const last = pets.at(-1);
    if (last !== undefined && (pets.length === limit || bytes > PAGE_BYTES)) {
      return Object.freeze({ pets: Object.freeze(pets), next: last.id });
    }
    pets.push(pet);
  }
  return Object.freeze({ pets: Object.freeze(pets), next: undefined });
}

const LIMIT = `limit must be an integer from ${PAGE_LIMIT.minimum} to ${PAGE_LIMIT.maximum}`;

/** Validates a list query (specification, "GET /pets"): own properties only. The error names every wrong one. */
export function parseListQuery(input: unknown): Result<PetQuery, CodedError<"invalid_query">> {
  if (typeof input !== "object" || input === null) {
    return err(invalidQuery(["the query must be an object"]));
  }
  const limit = ownField(input, "limit", PAGE_LIMIT.default);
  const status = ownField(input, "status");
  const after = ownField(input, "after");
  const afterId = toInt64(after);
  const isLimit = isIntegerFrom(PAGE_LIMIT.minimum, PAGE_LIMIT.maximum, limit);
  const isStatus = status === undefined || isPetStatus(status);
  const isAfter = after === undefined || afterId !== undefined;
  if (isLimit && isStatus && isAfter) {
    return ok({ limit, status, after: afterId } satisfies EachField<PetQuery>);
  }

  const problems: string[] = [];
  if (!isLimit) problems.push(LIMIT);
  if (!isStatus) problems.push(STATUS);
  if (!isAfter) problems.push(int64Problem("after", after));
  return err(invalidQuery(problems));
}
