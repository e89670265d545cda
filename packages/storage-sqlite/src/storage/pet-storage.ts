import type { PetPage } from "@petstore/core";
import { pageOf, type PetQuery, type PetStorage } from "@petstore/core/storage";
import { createPageCache } from "@petstore/storage-sql";
import { ok } from "neverthrow";
import type { Pets } from "../tables/pets.js";
import type { Groups } from "./groups.js";

export function createSqlitePetStorage(
  table: Pets,
  { reads, writes, readQuickly }: Groups,
): PetStorage {
  const pages = createPageCache<number>();

  const keptPage = (revision: number | undefined, query: PetQuery): PetPage | undefined =>
    revision === undefined ? undefined : pages.find(revision, query);
  const readPage = (query: PetQuery): PetPage => {
    const revision = table.revision();
    const known = keptPage(revision, query);
    if (known) return known;
    const page = pageOf(table.list(query), query.limit);
    if (revision !== undefined) pages.keep(revision, query, page);
    return page;
  };

  return {
    create: (pet) => writes.add("Adding a pet", (transaction) => transaction.add(pet)),
    createOnce: (pet, request) =>
      writes.add("Adding a pet", (transaction) => transaction.addOnce(pet, request)),
    import: (pets) => writes.add("Importing pets", (transaction) => transaction.import(pets)),
    find: (id) => readQuickly("Finding a pet", () => table.find(id)),
    list: (query) => {
      const known = reads.isClosed() ? undefined : keptPage(table.knownRevision(), query);
      if (known) return Promise.resolve(ok(known));
      return reads.add("Listing pets", () => readPage(query));
    },
  };
}
