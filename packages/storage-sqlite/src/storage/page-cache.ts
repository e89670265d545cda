import type { PetPage, PetQuery } from "@petstore/core";
import { LRUCache } from "lru-cache";

/** Caches pages of pets for one revision of the table, so that a repeated request runs no query. */
export interface PageCache {
  /** Returns the page that was kept for this revision and query. */
  find(revision: number, query: PetQuery): PetPage | undefined;
  keep(revision: number, query: PetQuery, page: PetPage): void;
}

/** In characters of names, plus an estimate for each pet: a few MiB. */
const CAPACITY = 2_000_000;
const OVERHEAD_PER_PET = 100;

export function createPageCache(): PageCache {
  const pages = new LRUCache<string, PetPage>({ maxSize: CAPACITY, sizeCalculation: sizeOf });
  let currentRevision: number | undefined;

  const select = (revision: number): void => {
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

function keyOf({ limit, status, after }: PetQuery): string {
  return `${limit} ${status ?? ""} ${after?.toString() ?? ""}`;
}

function sizeOf({ pets }: PetPage): number {
  return pets.reduce((sum, { name }) => sum + name.length, (1 + pets.length) * OVERHEAD_PER_PET);
}
