import type { Pet, PetPage } from "@petstore/core";
import {
  INT64_MAX,
  missingPets,
  type Creation,
  type CreationRequest,
  type ImportedPets,
  type NewPet,
  type PetQuery,
  type PetStorage,
} from "@petstore/core/storage";
import { petOf } from "@petstore/core/internal";
import {
  AGAIN,
  createGroupCommit,
  createPageCache,
  keyOf,
  NoIdLeft,
  type Call,
  type Outcome,
} from "@petstore/storage-sql";
import {
  createTurns,
  IMPORT_TIMEOUT,
  LOOK_UP_TIME,
  type AttemptSettings,
  type Calls,
} from "../commit/calls.js";
import type { Writer } from "../commit/writer.js";
import type { PetCreations, PetToCreate } from "../tables/pet-creations.js";
import type { Additions, Pets, Revision } from "../tables/pets.js";
import { createLookUp } from "./look-up.js";

export interface PetStorageOptions {
  readonly pets: Pets;
  readonly creations: PetCreations;
  readonly writer: Writer;
  /** For imports, which take longer than creates wait. */
  readonly importer: Writer;
  readonly run: Calls["run"];
  readonly settings: AttemptSettings;
}

/** `close` resolves when its calls are settled. */
export function createPostgresPetStorage(options: PetStorageOptions): {
  readonly pets: PetStorage;
  readonly close: () => Promise<void>;
} {
  const { pets, creations, writer, importer, run, settings } = options;
  const creates = createGroupCommit<Added, PetToCreate>({
    ...settings,
    kind: { storage: "postgres", group: "writes" },
    commit: createCommit(pets, creations, writer),
  });
  const finds = createLookUp(settings, async (ids: readonly bigint[]) =>
    (await pets.find(ids)).map((pet) => [pet.id, pet] as const),
  );
  const lists = createListing(pets, settings);
  const inTurn = createTurns();
  const importPets = async (moved: readonly Pet[]): Promise<ImportedPets> => {
    const found = await pets.find(moved.map(({ id }) => id));
    const byId = new Map(found.map((pet) => [pet.id, pet]));
    const { missing, conflict } = missingPets(moved, (id) => byId.get(id));
    // Another server may take one of the ids meanwhile: then the statement fails.
    if (missing.length > 0) await importer.write(pets.import, missing, IMPORT_TIMEOUT);
    return { added: missing.length, conflict };
  };
  return {
    pets: {
      create: (pet) => creates.add("Adding a pet", ({ id }) => petOf(id, pet), { pet }),
      createOnce: (pet, request) =>
        creates.add("Adding a pet once", ({ id, earlier }) => earlier ?? creationOf(id, request), {
          pet,
          request,
        }),
      import: (moved) =>
        run("Importing pets", () => inTurn(() => importPets(moved)), IMPORT_TIMEOUT + LOOK_UP_TIME),
      find: (id) => finds.find("Finding a pet", id),
      list: (query) => lists.add("Listing pets", (pageOf) => pageOf(query), query),
    },
    close: async () => {
      await Promise.all([creates.close(), finds.close(), lists.close()]);
    },
  };
}

/** What a call's work gets: the id of its pet, or the creation that is remembered under its token. */
interface Added {
  readonly id: bigint;
  readonly earlier?: Creation;
}

type AddCall<T> = Call<Added, PetToCreate, T>;

/**
 * Looks for the tokens, and adds the pets of those that are not remembered. A call whose token another call
 * claims at the same time runs again, and then finds it.
 */
function createCommit(table: Pets, creations: PetCreations, writer: Writer) {
  // A standby that was behind when it took over must not give out the same ids again.
  let lastId = 0n;

  const add = async (pets: readonly PetToCreate[]): Promise<readonly (bigint | null)[]> => {
    if (pets.length === 0) return [];
    if (lastId > INT64_MAX - BigInt(pets.length)) throw new NoIdLeft();
    // The statement that knows no tokens takes a third less time.
    const ids = pets.some(({ request }) => request)
      ? await writer.write(creations.add, { pets, lastId })
      : idsAfter(await writer.write(table.add, withoutTokens(pets, lastId)), pets.length);
    for (const id of ids) if (id !== null && id > lastId) lastId = id;
    return ids;
  };

  return async <T>(calls: readonly AddCall<T>[]): Promise<readonly Outcome<T>[]> => {
    const earlier = await findEarlier(creations, calls);
    const tokens = new Set<string>();
    const wanted = calls
      .map(({ subject }) => subject)
      .filter((subject) => !earlier.has(subject) && isFirst(tokens, subject));
    const ids = await add(wanted);
    const added = new Map(wanted.map((subject, index) => [subject, ids[index] ?? undefined]));
    return calls.map(({ work, subject }): Outcome<T> => {
      const creation = earlier.get(subject);
      if (creation) return work({ id: creation.petId, earlier: creation });
      const id = added.get(subject);
      return id === undefined ? AGAIN : work({ id });
    });
  };
}

function withoutTokens(pets: readonly PetToCreate[], lastId: bigint): Additions<NewPet> {
  return { pets: pets.map(({ pet }) => pet), lastId };
}

function idsAfter([before]: readonly (bigint | null)[], count: number): readonly bigint[] {
  if (before === undefined || before === null) return [];
  return Array.from({ length: count }, (_, index) => before + BigInt(index + 1));
}

/** Whether no earlier call of the batch has the token of this one. */
function isFirst(tokens: Set<string>, { request }: PetToCreate): boolean {
  if (request === undefined) return true;
  const { size } = tokens;
  return tokens.add(request.token).size > size;
}

/** The creations that are remembered for these calls. Also removes a few that no longer are. */
async function findEarlier(
  creations: PetCreations,
  calls: readonly AddCall<unknown>[],
): Promise<ReadonlyMap<PetToCreate, Creation>> {
  const requests = calls.flatMap(({ subject }) => subject.request ?? []);
  if (requests.length === 0) return new Map();
  const latest = Math.max(...requests.map(({ now }) => now));
  const [found] = await Promise.all([
    creations.find(requests.map(({ token }) => token)),
    // Removes more than are added, so that expired creations do not pile up. The next call removes those that this
    // one cannot.
    creations.removeExpired({ now: latest, count: 2 * requests.length }).catch(() => undefined),
  ]);
  const byToken = new Map(found.map(({ token, ...creation }) => [token, creation]));
  return new Map(
    calls.flatMap(({ subject }) => {
      const { request } = subject;
      const creation = request && byToken.get(request.token);
      const isRemembered = creation && request.now < creation.expiresAt;
      return isRemembered ? [[subject, { ...creation, replayed: true }] as const] : [];
    }),
  );
}

function creationOf(petId: bigint, { fingerprint, expiresAt }: CreationRequest): Creation {
  return { petId, fingerprint, expiresAt, replayed: false };
}

type PageOf = (query: PetQuery) => PetPage;

/** Lists pets; equal queries that arrive together share a statement, which reads no pets if none changed. */
function createListing(table: Pets, settings: AttemptSettings) {
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
  return createGroupCommit<PageOf, PetQuery>({
    ...settings,
    kind: { storage: "postgres", group: "reads" },
    commit: async (calls) => {
      const queries = new Map(calls.map(({ subject }) => [keyOf(subject), subject]));
      const reads = [...queries].map(async ([key, query]) => [key, await read(query)] as const);
      const pages = new Map(await Promise.all(reads));
      const pageOf: PageOf = (query) => {
        const page = pages.get(keyOf(query));
        if (!page) throw new TypeError("The page was not read.");
        return page;
      };
      return calls.map(({ work }) => work(pageOf));
    },
  });
}
