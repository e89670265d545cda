import type { Pet, PetStatus } from "@petstore/core";
import {
  newPetFields,
  PET_COLUMNS,
  petColumns,
  toPet,
  type Parameter,
} from "@petstore/storage-sql";
import { sql, type Kysely } from "kysely";
import type { Connection } from "../database/connection.js";
import { prepareManyRows } from "./many-rows.js";
import { PETS_TRIGGERS } from "../migrations/initial.js";
import type { Schema } from "./schema.js";

/** The statements on the table of pets. */
export interface Pets {
  find(id: bigint): Pet | undefined;
  /** Reads up to `count` pets with an id above `after`, in ascending order of id, one after another. */
  list(count: number, after: bigint, status: PetStatus | undefined): Iterable<Pet>;
  /** The greatest id that was ever used; 0 if none was. */
  lastId(): bigint;
  /** Adds pets whose ids are new. */
  insert(pets: readonly Pet[]): void;
  /** A number that changes with every change of the table; `undefined` if another program removed it or its triggers. */
  revision(): number | undefined;
  /** The same if it is known without a query. */
  knownRevision(): number | undefined;
}

export function preparePets(connection: Connection): Pets {
  const find = connection.select(PET_COLUMNS, selectPet, "bigint");
  const list = connection.select(PET_COLUMNS, selectPets, "bigint");
  const listByStatus = connection.select(PET_COLUMNS, selectPetsByStatus, "bigint");
  const lastIds = prepareLastIds(connection);
  const insert = prepareManyRows((rows) => prepareInsert(connection, rows));
  const revision = prepareRevision(connection);
  /** Read since the last change of this process. */
  let seen:
    { readonly version: number | undefined; readonly revision: number | undefined } | undefined;
  return {
    find: (id) => {
      const row = find.get({ id });
      return row && toPet(row);
    },
    list: function* (count, after, status) {
      const rows =
        status === undefined
          ? list.iterate({ count, after })
          : listByStatus.iterate({ count, after, status });
      for (const row of rows) yield toPet(row);
    },
    lastId: () =>
      lastIds.all(undefined).reduce((greatest, [id]) => (id > greatest ? id : greatest), 0n),
    insert: (pets) => {
      seen = undefined;
      insert(pets);
    },
    revision: () => {
      const version = connection.version();
      if (version === undefined || seen?.version !== version)
        seen = { version, revision: revision.get(undefined)?.[0] };
      return seen.revision;
    },
    knownRevision: () => {
      if (seen?.version === undefined) return undefined;
      return connection.version() === seen.version ? seen.revision : undefined;
    },
  };
}

/** Which pets a page holds at most. */
interface PetsAfter {
  readonly count: number;
  readonly after: bigint;
}

/** Selects the pet with an id. */
function selectPet(queries: Kysely<Schema>, value: Parameter<{ id: bigint }>) {
  return queries.selectFrom("pets").select(PET_COLUMNS).where("id", "=", value("id"));
}

/** Selects in ascending order of id. */
function selectPets(queries: Kysely<Schema>, value: Parameter<PetsAfter>) {
  return queries
    .selectFrom("pets")
    .select(PET_COLUMNS)
    .where("id", ">", value("after"))
    .orderBy("id")
    .limit(value("count"));
}

/** Selects those with one status, in ascending order of id. */
function selectPetsByStatus(
  queries: Kysely<Schema>,
  value: Parameter<PetsAfter & { status: PetStatus }>,
) {
  return selectPets(queries, value).where("status", "=", value("status"));
}

function prepareRevision(connection: Connection) {
  return connection.select(["revision"], (queries) => {
    const triggers = queries
      .selectFrom("sqlite_schema")
      .select(({ fn }) => fn.countAll().as("count"))
      .where("tbl_name", "=", sql.lit("pets"))
      .where(
        "name",
        "in",
        PETS_TRIGGERS.map((name) => sql.lit(name)),
      );
    return queries
      .selectFrom("pets_revision")
      .select("revision")
      .where(triggers, "=", sql.lit(PETS_TRIGGERS.length));
  });
}

/**
 * Reads the greatest id of the table and that of SQLite's sequence, as AUTOINCREMENT does: the sequence does
 * not include ids that were changed by hand.
 */
function prepareLastIds(connection: Connection) {
  return connection.select(
    ["id"],
    (queries) =>
      queries
        .selectFrom((from) =>
          from.selectFrom("pets").select("id").orderBy("id", "desc").limit(1).as("newest"),
        )
        .select("newest.id")
        .unionAll(
          queries.selectFrom("sqlite_sequence").select("seq as id").where("name", "=", "pets"),
        ),
    "bigint",
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
