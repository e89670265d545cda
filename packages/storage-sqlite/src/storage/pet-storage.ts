import type { Pet, PetPage } from "@petstore/core";
import { INT64_MAX, missingPets, pageOf, type PetStorage } from "@petstore/core/storage";
import type { Creation, CreationRequest, NewPet, PetQuery } from "@petstore/core/storage";
import { petOf } from "@petstore/core/internal";
import { createPageCache, NoIdLeft, type PetCreation } from "@petstore/storage-sql";
import { ok } from "neverthrow";
import type { PetCreations } from "../tables/pet-creations.js";
import type { Pets } from "../tables/pets.js";
import type { Groups } from "./groups.js";

export function createSqlitePetStorage(
  table: Pets,
  { reads, writes, readQuickly }: Groups<PetsTransaction>,
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

type PetsTransaction = ReturnType<typeof createPetsTransaction>;

/** Creates a transaction that adds pets. It holds the write lock, so it can assign ids and insert all in `flush`. */
export function createPetsTransaction(table: Pets, creations: PetCreations) {
  let added: Pet[] = [];
  const remembered = new Map<string, PetCreation>();
  let lastId: bigint | undefined;
  let latest = 0;

  const insertAdded = (): void => {
    table.insert(added);
    added = [];
  };
  /** @throws NoIdLeft */
  const add = (newPet: NewPet): Pet => {
    lastId ??= table.lastId();
    if (lastId === INT64_MAX) throw new NoIdLeft();
    lastId += 1n;
    const pet = petOf(lastId, newPet);
    added.push(pet);
    return pet;
  };
  return {
    add,
    /** Adds the pet unless a creation with this token is remembered. @throws NoIdLeft */
    addOnce: (pet: NewPet, { token, fingerprint, now, expiresAt }: CreationRequest): Creation => {
      const earlier = remembered.get(token) ?? creations.find(token);
      if (earlier !== undefined && now < earlier.expiresAt) return asReplayed(earlier, true);
      const creation = { token, petId: add(pet).id, fingerprint, expiresAt };
      remembered.set(token, creation);
      latest = Math.max(latest, now);
      return asReplayed(creation, false);
    },
    /** Adds the pets that are missing, at once. */
    import: (pets: readonly Pet[]) => {
      insertAdded();
      lastId = undefined;
      const { missing, conflict } = missingPets(pets, table.find);
      table.insert(missing);
      return { added: missing.length, conflict };
    },
    flush: (): void => {
      insertAdded();
      if (remembered.size === 0) return;
      creations.save([...remembered.values()]);
      // Removes more than were added, so that expired creations do not pile up.
      creations.removeExpired({ now: latest, count: 2 * remembered.size });
    },
  };
}

function asReplayed({ petId, fingerprint, expiresAt }: PetCreation, replayed: boolean): Creation {
  return { petId, fingerprint, expiresAt, replayed };
}
