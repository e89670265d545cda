import type { PetPage, PetQuery, PetStorage } from "@petstore/core";
import type { Connection } from "./connection.js";
import { createPageCache } from "./page-cache.js";
import type { PetsBatch } from "./pets-batch.js";
import type { Read } from "./reader.js";
import { preparePetsRevision } from "./tables/pets-revision.js";
import { preparePetReads, type PetReads } from "./tables/pets.js";
import type { WriteQueue } from "./write-queue.js";

export function createPetStorage(
  queue: WriteQueue<PetsBatch>,
  reading: Connection,
  read: Read,
): PetStorage {
  const seen = preparePetReads(reading);
  const revision = preparePetsRevision(reading);
  const cache = createPageCache();

  const cachedPage = (query: PetQuery): PetPage => {
    const now = revision.current();
    const known = now === undefined ? undefined : cache.find(now, query);
    return known ?? reading.read(() => readPage(query));
  };

  const readPage = (query: PetQuery): PetPage => {
    const page = pageOf(seen, query);
    const readAt = revision.current();
    if (readAt !== undefined) cache.keep(readAt, query, page);
    return page;
  };

  return {
    create: (pet) => queue.add("Adding a pet", (batch) => batch.add(pet)),
    createAll: (pets) => queue.add("Adding pets", (batch) => batch.addAll(pets), pets.length),
    find: (id) => read("Finding a pet", () => seen.find(id)),
    list: (query) => read("Listing pets", () => cachedPage(query)),
  };
}

/** Reads one animal more than the page holds: its presence tells whether there is a next page. */
function pageOf(pets: PetReads, { limit, after, status }: PetQuery): PetPage {
  const found = pets.list(limit + 1, after ?? 0n, status);
  const page = Object.freeze(found.slice(0, limit));
  return Object.freeze({ pets: page, next: found.length > limit ? page.at(-1)?.id : undefined });
}
