import type { Pet, PetPage, PetQuery } from "@petstore/core";
import { LRUCache } from "lru-cache";

/** Caches pages of pets for one revision of the table, so that a repeated request runs no query. */
export interface PageCache<Revision> {
  /** Returns the page that was kept for this revision and query. */
  find(revision: Revision, query: PetQuery): PetPage | undefined;
  keep(revision: Revision, query: PetQuery, page: PetPage): void;
}

/** In characters of names, plus an estimate for each pet: a few MiB. */
const CAPACITY = 2_000_000;
const OVERHEAD_PER_PET = 100;

/** Creates an empty cache. */
export function createPageCache<Revision extends string | number>(): PageCache<Revision> {
  const pages = new LRUCache<string, PetPage>({ maxSize: CAPACITY, sizeCalculation: sizeOf });
  let currentRevision: Revision | undefined;

  const select = (revision: Revision): void => {
    if (revision !== currentRevision) pages.clear();
    currentRevision = revision;
  };
  return {
    find: (revision, query) => {
      select(revision);
      return pages.get(keyOf(query));
    },
    keep: (revision, query, page) => {
      select(revision);
      pages.set(keyOf(query), page);
    },
  };
}

/** The same for equal queries, and for no others. */
export function keyOf({ limit, status, after }: PetQuery): string {
  return `${limit} ${status ?? ""} ${after?.toString() ?? ""}`;
}

function sizeOf({ pets }: PetPage): number {
  return pets.reduce((sum, { name }) => sum + name.length, (1 + pets.length) * OVERHEAD_PER_PET);
}

/** Makes a page of the pets that were found, one of which may be more than the page holds. */
export function pageOf(found: readonly Pet[], limit: number): PetPage {
  const pets = Object.freeze(found.slice(0, limit));
  return Object.freeze({ pets, next: found.length > limit ? pets.at(-1)?.id : undefined });
}
