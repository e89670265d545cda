import type { Pet, PetPage } from "@petstore/core";
import { petOf, type PetFilter } from "@petstore/core/internal";
import { INT64_MAX, missingPets, pageOf, type PetStorage } from "@petstore/core/storage";
import type { Creation, CreationRequest, NewPet, PetQuery } from "@petstore/core/storage";
import { createPageCache, NoIdLeft, type Parameter, type PetCreation } from "@petstore/storage-sql";
import { newPetFields, PET_COLUMNS, petColumns, prepareLists, toPet } from "@petstore/storage-sql";
import { sql } from "kysely";
import { ok } from "neverthrow";
import type { Connection } from "../database/connection.js";
import { PETS_TRIGGERS } from "../migrations/initial.js";
import type { Groups } from "./groups.js";
import { prepareManyRows } from "./many-rows.js";
import type { PetCreations } from "./pet-creations.js";

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
    create: (pet) => writes.add("Adding a pet", ({ add }) => add(pet)),
    createOnce: (pet, request) =>
      writes.add("Adding a pet", ({ addOnce }) => addOnce(pet, request)),
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
  const added: Pet[] = [];
  const remembered = new Map<string, PetCreation>();
  let lastId: bigint | undefined;
  let latest = 0;

  const insertAdded = (): void => table.insert(added.splice(0));
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

type Pets = ReturnType<typeof preparePets>;

export function preparePets(connection: Connection) {
  const pet = connection.selectBigints(PET_COLUMNS, (queries, value: Parameter<{ id: bigint }>) =>
    queries.selectFrom("pets").select(PET_COLUMNS).where("id", "=", value("id")),
  );
  const listFor = prepareLists((fields) => prepareList(connection, fields));
  const lastIds = prepareLastIds(connection);
  const insert = prepareManyRows((rows) => prepareInsert(connection, rows));
  const revision = prepareRevision(connection);
  /** Read since the last change of this process. */
  let seen: { readonly version?: number | undefined; readonly revision?: number | undefined } = {};
  return {
    find: (id: bigint) => pet.find({ id }, toPet),
    /** Reads the pets of a page and the next one, if any, one after another. */
    list: function* (query: PetQuery): Iterable<Pet> {
      for (const row of listFor(query).iterate(query)) yield toPet(row);
    },
    /** The greatest id that was ever used; 0 if none was. */
    lastId: (): bigint =>
      lastIds.all(undefined).reduce((greatest, [id]) => (id > greatest ? id : greatest), 0n),
    /** Adds pets whose ids are new. */
    insert: (pets: readonly Pet[]): void => {
      seen = {};
      insert(pets);
    },
    /** Changes with every change of the table; `undefined` if another program removed it or its triggers. */
    revision: (): number | undefined => {
      const version = connection.version();
      if (version === undefined || seen.version !== version)
        seen = { version, revision: revision.get(undefined)?.[0] };
      return seen.revision;
    },
    /** The same if it is known without a query. */
    knownRevision: (): number | undefined => {
      const isKnown = seen.version !== undefined && seen.version === connection.version();
      return isKnown ? seen.revision : undefined;
    },
  };
}

/** Prepares the statement that selects the pets whose fields have the values in a query, in ascending order of id. */
function prepareList(connection: Connection, fields: readonly (keyof PetFilter)[]) {
  return connection.selectBigints(PET_COLUMNS, (queries, value: Parameter<PetQuery>) => {
    const start = value.of(({ after = 0n }) => after);
    const pets = queries
      .selectFrom("pets")
      .select(PET_COLUMNS)
      .where("id", ">", start)
      .orderBy("id")
      // One pet more than the page holds shows whether there is a next page.
      .limit(value.of(({ limit }) => limit + 1));
    return fields.reduce((filtered, field) => {
      const wanted = value.of((query) => query[field]);
      return filtered.where(petColumns[field].column, "=", wanted);
    }, pets);
  });
}

function prepareRevision(connection: Connection) {
  const triggers = sql.join(PETS_TRIGGERS.map((name) => sql.lit(name)));
  return connection.select(
    ["revision"],
    () => sql<{ readonly revision: number }>`
      select "revision" from "main"."pets_revision" where (
        select count(*) from "main"."sqlite_schema" where "tbl_name" = 'pets' and "name" in (${triggers})
      ) = ${sql.lit(PETS_TRIGGERS.length)}`,
  );
}

/** Reads the greatest id of the table, and that of SQLite's sequence, which lacks ids that were changed by hand. */
function prepareLastIds(connection: Connection) {
  return connection.selectBigints(
    ["id"],
    () => sql<{ readonly id: bigint }>`
      select "newest"."id" from (select "id" from "main"."pets" order by "id" desc limit ${1}) as "newest"
      union all select "seq" as "id" from "main"."sqlite_sequence" where "name" = ${"pets"}`,
  );
}

function prepareInsert(connection: Connection, rows: number) {
  return connection.change((queries, value: Parameter<readonly Pet[]>) => {
    const fields = ["id", ...newPetFields] as const;
    const rowOf = (row: number) =>
      sql`(${sql.join(fields.map((field) => value.of((pets) => pets[row]?.[field] ?? null)))})`;
    return queries
      .insertInto("pets")
      .columns(fields.map((field) => petColumns[field].column))
      .expression(sql`values ${sql.join(Array.from({ length: rows }, (_, row) => rowOf(row)))}`);
  });
}
