import type { Pet } from "@petstore/core";
import type { PetFilter } from "@petstore/core/internal";
import type { PetQuery } from "@petstore/core/storage";
import { newPetFields, PET_COLUMNS, petColumns, prepareLists, toPet } from "@petstore/storage-sql";
import type { Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";
import { prepareManyRows } from "./many-rows.js";
import { PETS_TRIGGERS } from "../migrations/initial.js";

export type Pets = ReturnType<typeof preparePets>;

export function preparePets(connection: Connection) {
  const pet = connection.select(
    PET_COLUMNS,
    (queries, value: Parameter<{ id: bigint }>) =>
      queries.selectFrom("pets").select(PET_COLUMNS).where("id", "=", value("id")),
    "bigint",
  );
  const listFor = prepareLists((fields) => prepareList(connection, fields));
  const lastIds = prepareLastIds(connection);
  const insert = prepareManyRows((rows) => prepareInsert(connection, rows));
  const revision = prepareRevision(connection);
  /** Read since the last change of this process. */
  let seen: { readonly version?: number | undefined; readonly revision?: number | undefined } = {};
  return {
    find: (id: bigint): Pet | undefined => {
      const row = pet.get({ id });
      return row && toPet(row);
    },
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
  return connection.select(
    PET_COLUMNS,
    (queries, value: Parameter<PetQuery>) => {
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
    },
    "bigint",
  );
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
  return connection.select(
    ["id"],
    () => sql<{ readonly id: bigint }>`
      select "newest"."id" from (select "id" from "main"."pets" order by "id" desc limit ${1}) as "newest"
      union all select "seq" as "id" from "main"."sqlite_sequence" where "name" = ${"pets"}`,
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
