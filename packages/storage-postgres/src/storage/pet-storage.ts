import type { Pet, PetPage } from "@petstore/core";
import { INT64_MAX, missingPets, type PetStorage } from "@petstore/core/storage";
import type { Creation, CreationRequest, ImportedPets, PetQuery } from "@petstore/core/storage";
import { petOf } from "@petstore/core/internal";
import { AGAIN, Contention, createGroupCommit, createPageCache } from "@petstore/storage-sql";
import { keyOf, NoIdLeft, type Call, type Outcome, type PetCreation } from "@petstore/storage-sql";
import { createSerialRun, IMPORT_TIMEOUT } from "../commit/calls.js";
import type { CallSettings, Attempts } from "../commit/calls.js";
import type { Recorded } from "../commit/write.js";
import type { Writer } from "../commit/writer.js";
import type { Connection } from "../database/connection.js";
import { sqlState } from "../database/errors.js";
import { preparePetCreations } from "../tables/pet-creations.js";
import type { PetCreations, PetToCreate } from "../tables/pet-creations.js";
import { preparePets, type Pets, type Revision } from "../tables/pets.js";
import { createLookUp } from "./look-up.js";

export function createPostgresPetStorage(
  connection: Connection,
  writers: Readonly<Record<"pets" | "imports", Writer>>,
  run: Attempts["run"],
  settings: CallSettings,
) {
  const table = preparePets(connection);
  const creates = createGroupCommit<Added, PetToCreate>({
    ...settings,
    kind: { storage: "postgres", group: "writes" },
    commit: createCommit(table, preparePetCreations(connection), writers.pets),
  });
  const findAll = async (ids: readonly bigint[]) => {
    const found = await table.find([...new Set(ids)]);
    const byId = new Map(found.map((pet) => [pet.id, pet]));
    return (id: bigint) => byId.get(id);
  };
  const finds = createLookUp("Finding a pet", settings, findAll);
  const lists = createLookUp("Listing pets", settings, createListing(table));
  const inTurn = createSerialRun(run);
  const importPets = async (moved: readonly Pet[]): Promise<ImportedPets> => {
    const { missing, conflict } = missingPets(moved, await findAll(moved.map(({ id }) => id)));
    // If none is missing, see `createCommit`. If another process has just added one, the pets are compared again.
    await writers.imports.write(table.import, missing, IMPORT_TIMEOUT).catch((error: unknown) => {
      throw sqlState(error) === "23505" ? new Contention() : error;
    });
    return { added: missing.length, conflict };
  };
  const pets: PetStorage = {
    create: (pet) => creates.add("Adding a pet", ({ id }) => petOf(id, pet), { pet }),
    createOnce: (pet, request) =>
      creates.add("Adding a pet once", (added) => creationOf(added, request), { pet, request }),
    import: (moved) => inTurn("Importing pets", () => importPets(moved), IMPORT_TIMEOUT),
    find: finds.find,
    list: lists.find,
  };
  const close = () => Promise.all([creates.close(), finds.close(), lists.close()]);
  return { pets, close };
}

/** What a call's work gets: the id of its pet, and the creation that is remembered under its token, if any. */
interface Added {
  readonly id: bigint;
  readonly earlier?: PetCreation;
}

function creationOf({ id, earlier }: Added, request: CreationRequest): Creation {
  const { fingerprint, expiresAt } = earlier ?? request;
  return { petId: id, fingerprint, expiresAt, replayed: earlier !== undefined };
}

type AddCall<T> = Call<Added, PetToCreate, T>;

/**
 * Looks for the tokens, and adds the pets of those that are not remembered. A call whose token another call
 * claims at the same time runs again, and then finds it. It also commits if it adds no pet: the wait of an earlier
 * commit for a synchronous standby may have been ended, and this commit waits for both.
 */
function createCommit(table: Pets, creations: PetCreations, writer: Writer) {
  // A standby that was behind when it took over must not give out the same ids again.
  let lastId = 0n;

  const add = async (pets: readonly PetToCreate[]): Promise<Recorded> => {
    if (lastId > INT64_MAX - BigInt(pets.length)) throw new NoIdLeft();
    // The statement that knows no tokens takes a third less time.
    const ids = pets.some(({ request }) => request)
      ? await writer.write(creations.add, { pets, lastId })
      : idsAfter(
          await writer.write(table.add, { pets: pets.map(({ pet }) => pet), lastId }),
          pets.length,
        );
    for (const id of ids) if (id !== null && id > lastId) lastId = id;
    return ids;
  };

  return async <T>(calls: readonly AddCall<T>[]): Promise<readonly Outcome<T>[]> => {
    const subjects = calls.map(({ subject }) => subject);
    const earlierOf = await findEarlier(creations, subjects);
    const tokens = new Set<string>();
    const wanted = subjects.filter((subject) => !earlierOf(subject) && isFirst(tokens, subject));
    const ids = await add(wanted);
    const added = new Map(wanted.map((subject, index) => [subject, ids[index] ?? undefined]));
    return calls.map(({ work, subject }): Outcome<T> => {
      const earlier = earlierOf(subject);
      if (earlier) return work({ id: earlier.petId, earlier });
      const id = added.get(subject);
      return id === undefined ? AGAIN : work({ id });
    });
  };
}

function idsAfter([before]: Recorded, count: number): readonly bigint[] {
  if (before === undefined || before === null) return [];
  return Array.from({ length: count }, (_, index) => before + BigInt(index + 1));
}

/** Whether no earlier call of the batch has the token of this one. */
function isFirst(tokens: Set<string>, { request }: PetToCreate): boolean {
  if (request === undefined) return true;
  const { size } = tokens;
  return tokens.add(request.token).size > size;
}

/** Resolves to a function that returns the creation that is remembered under a pet's token. Also removes expired ones. */
async function findEarlier(creations: PetCreations, pets: readonly PetToCreate[]) {
  const requests = pets.flatMap(({ request }) => request ?? []);
  if (requests.length === 0) return () => undefined;
  const latest = Math.max(...requests.map(({ now }) => now));
  const [found] = await Promise.all([
    creations.find(requests.map(({ token }) => token)),
    // Removes more than are added, so that expired creations do not pile up. If it fails, the next call removes them.
    creations.removeExpired({ now: latest, count: 2 * requests.length }).catch(() => undefined),
  ]);
  const byToken = new Map(found.map((creation) => [creation.token, creation]));
  return ({ request }: PetToCreate): PetCreation | undefined => {
    const creation = request && byToken.get(request.token);
    return creation && request.now < creation.expiresAt ? creation : undefined;
  };
}

/** How many lists of a batch are read at once: those of one caller must not take all connections for long. */
const LISTS_AT_ONCE = 4;

/** Lists pets; equal queries share a statement, which reads no pets if none changed. */
function createListing(table: Pets) {
  const cache = createPageCache<Revision>();
  let newest: Revision | undefined;

  const read = async (query: PetQuery): Promise<PetPage> => {
    const known = newest;
    const cached = known && cache.find(known, query);
    const { revision, page = cached } = await table.list(query, cached && known);
    if (!page) throw new TypeError("The page was left out.");
    newest = revision;
    cache.keep(revision, query, page);
    return page;
  };
  return async (queries: readonly PetQuery[]) => {
    const reads = [...new Map(queries.map((query) => [keyOf(query), query]))];
    const pages = new Map<string, PetPage>();
    const readRest = async (): Promise<void> => {
      for (let next = reads.pop(); next !== undefined; next = reads.pop())
        pages.set(next[0], await read(next[1]));
    };
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, readRest));
    return (query: PetQuery): PetPage => {
      const page = pages.get(keyOf(query));
      if (!page) throw new TypeError("The page was not read.");
      return page;
    };
  };
}
