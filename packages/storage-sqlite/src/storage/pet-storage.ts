import type { Pet, PetPage } from "@petstore/core";
import {
  INT64_MAX,
  missingPets,
  pageOf,
  type Creation,
  type CreationRequest,
  type ImportedPets,
  type NewPet,
  type PetQuery,
  type PetStorage,
  type StorageError,
} from "@petstore/core/storage";
import { petOf } from "@petstore/core/internal";
import {
  createPageCache,
  NoIdLeft,
  type GroupCommit,
  type PetCreation,
} from "@petstore/storage-sql";
import { ok, type Result } from "neverthrow";
import type { PetCreations } from "../tables/pet-creations.js";
import type { Pets } from "../tables/pets.js";

/** Adds pets in one transaction. It holds the write lock, so it can assign ids and insert all pets at the end. */
export interface PetsTransaction {
  /** @throws NoIdLeft */
  add(pet: NewPet): Pet;
  /** Adds the pet unless a creation with this token is remembered. @throws NoIdLeft */
  addOnce(pet: NewPet, request: CreationRequest): Creation;
  /** Adds the pets that are missing, at once. */
  import(pets: readonly Pet[]): ImportedPets;
  flush(): void;
}

/** Creates a transaction without pets; `flush` writes those that were added. */
export function createPetsTransaction(table: Pets, creations: PetCreations): PetsTransaction {
  let added: Pet[] = [];
  const remembered = new Map<string, PetCreation>();
  let lastId: bigint | undefined;
  let latest = 0;

  const add = (newPet: NewPet): Pet => {
    lastId ??= table.lastId();
    if (lastId === INT64_MAX) throw new NoIdLeft();
    lastId += 1n;
    const pet = petOf(lastId, newPet);
    added.push(pet);
    return pet;
  };
  const insertAdded = (): void => {
    table.insert(added);
    added = [];
  };
  return {
    add,
    addOnce: (pet, { token, fingerprint, now, expiresAt }) => {
      const earlier = remembered.get(token) ?? creations.find(token);
      if (earlier !== undefined && now < earlier.expiresAt) return asReplayed(earlier, true);
      const creation = { token, petId: add(pet).id, fingerprint, expiresAt };
      remembered.set(token, creation);
      latest = Math.max(latest, now);
      return asReplayed(creation, false);
    },
    import: (pets) => {
      insertAdded();
      lastId = undefined;
      const { missing, conflict } = missingPets(pets, (id) => table.find(id));
      table.insert(missing);
      return { added: missing.length, conflict };
    },
    flush: () => {
      insertAdded();
      if (remembered.size === 0) return;
      creations.save([...remembered.values()]);
      // Removes more than were added, so that expired creations do not pile up.
      creations.removeExpired(latest, 2 * remembered.size);
    },
  };
}

function asReplayed({ petId, fingerprint, expiresAt }: PetCreation, replayed: boolean): Creation {
  return { petId, fingerprint, expiresAt, replayed };
}

export interface PetGroups {
  readonly reads: GroupCommit<undefined>;
  /** Changes of pets and keys. */
  readonly writes: GroupCommit<PetsTransaction>;
  /** Runs a read that takes microseconds: in the charge that starts it, or with the reads. */
  readonly readQuickly: <T>(name: string, work: () => T) => Promise<Result<T, StorageError>>;
}

export function createSqlitePetStorage(
  table: Pets,
  { reads, writes, readQuickly }: PetGroups,
): PetStorage {
  const pages = createPageCache<number>();

  const keptPage = (revision: number | undefined, query: PetQuery): PetPage | undefined =>
    revision === undefined ? undefined : pages.find(revision, query);
  const readPage = (query: PetQuery): PetPage => {
    // The revision first: a page may be newer than the revision that it is kept for, but never older.
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
