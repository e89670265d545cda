import type { PetPage, PetQuery } from "@petstore/core";

/** Pages of one revision of the inventory, so that a page asked for again costs no query. */
export interface PageCache {
  /** The very page that was kept for this query, if the inventory is still at its revision. */
  find(revision: number, query: PetQuery): PetPage | undefined;
  /** Keeps a page as it was read at this revision. */
  keep(revision: number, query: PetQuery, page: PetPage): void;
}

/** About how many characters of names and overhead to hold at most: a few MiB. */
const CAPACITY = 2_000_000;
const OVERHEAD_PER_PET = 100;

export function createPageCache(capacity = CAPACITY): PageCache {
  const pages = new Map<string, PetPage>();
  let heldRevision: number | undefined;
  let held = 0;

  const clear = (): void => {
    pages.clear();
    held = 0;
  };

  return {
    find: (revision, query) => (revision === heldRevision ? pages.get(nameOf(query)) : undefined),
    keep: (revision, query, page) => {
      const size = sizeOf(page);
      if (revision !== heldRevision || held + size > capacity) clear();
      if (size > capacity) return;
      heldRevision = revision;
      held += size;
      pages.set(nameOf(query), page);
    },
  };
}

function nameOf({ limit, status, after }: PetQuery): string {
  return `${limit} ${status ?? ""} ${after?.toString() ?? ""}`;
}

function sizeOf({ pets }: PetPage): number {
  return pets.reduce((sum, { name }) => sum + name.length, (1 + pets.length) * OVERHEAD_PER_PET);
}
