import type { PetPage } from "@petstore/core";
import type { PetQuery, Creation } from "@petstore/core/storage";
import { jsonBytes, petFilters, type PetFilter } from "@petstore/core/internal";
import { LRUCache } from "lru-cache";
import type { Tuple } from "./query.js";
import type { PetCreationsTable } from "./schema.js";

/** Prepares a list for each set of fields that a query filters by, when it is first needed. */
export function prepareLists<List>(prepareList: (fields: readonly (keyof PetFilter)[]) => List) {
  const lists = new Map<string, List>();
  return (query: PetQuery): List => {
    const fields = petFilters.filter((field) => query[field] !== undefined);
    const name = fields.join();
    const list = lists.get(name) ?? prepareList(fields);
    lists.set(name, list);
    return list;
  };
}

export class NoIdLeft extends Error {
  constructor() {
    super("no id is left");
  }
}

export interface PetCreation extends Omit<Creation, "replayed"> {
  readonly token: string;
}

/** The columns of a creation, in the order that `toCreation` reads. */
export const CREATION_COLUMNS = ["token", "pet_id", "fingerprint", "expires_at"] as const;

export function toCreation([token, petId, fingerprint, expiresAt]: Tuple<
  PetCreationsTable,
  typeof CREATION_COLUMNS
>): PetCreation {
  return { token, petId, fingerprint, expiresAt: Number(expiresAt) };
}

/** In bytes of JSON, plus an estimate for each page: a few MiB. */
const CAPACITY = 2_000_000;
const OVERHEAD = 100;

/** Caches pages of pets for one revision of the table, so that a repeated request runs no query. */
export function createPageCache<Revision extends string | number>() {
  const pages = new LRUCache<string, PetPage>({
    maxSize: CAPACITY,
    sizeCalculation: ({ pets }) => pets.reduce((sum, pet) => sum + jsonBytes(pet), OVERHEAD),
  });
  let currentRevision: Revision | undefined;

  const pagesOf = (revision: Revision) => {
    if (revision !== currentRevision) pages.clear();
    currentRevision = revision;
    return pages;
  };
  return {
    find: (revision: Revision, query: PetQuery) => pagesOf(revision).get(keyOf(query)),
    keep: (revision: Revision, query: PetQuery, page: PetPage) =>
      void pagesOf(revision).set(keyOf(query), page),
  };
}

/** Returns a text that differs if the queries differ: no text of a pet has a NUL. */
export function keyOf(query: PetQuery): string {
  let key = `${query.limit}\0${query.after ?? ""}`;
  for (const field of petFilters) key += `\0${query[field] ?? ""}`;
  return key;
}
