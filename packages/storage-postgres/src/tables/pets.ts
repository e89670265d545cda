import { PAGE_LIMIT, type Pet, type PetPage } from "@petstore/core";
import type { PetFilter } from "@petstore/core/internal";
import { PAGE_BYTES, pageOf, type NewPet, type PetQuery } from "@petstore/core/storage";
import { newPetFields, PET_COLUMNS, petColumns, prepareLists, toPet } from "@petstore/storage-sql";
import type { Parameter, PetsTable } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import { prepareWrite } from "../commit/write.js";
import { columnsOf, type Connection } from "../database/connection.js";

/** Pets to add, and the greatest id that is known to have been used. */
export interface Additions<Item> {
  readonly pets: readonly Item[];
  readonly lastId: bigint;
}

/** Changes with every change of the pets: the greatest id, and the random `edits`. */
export type Revision = `${bigint}/${bigint}`;

/** No inventory has this revision. */
const NONE: Revision = "-1/-1";

export type Pets = ReturnType<typeof preparePets>;

export function preparePets(connection: Connection) {
  const { select, table } = connection;
  // In a subquery, the number of ids does not count, so that PostgreSQL plans the statement once.
  const find = select(
    PET_COLUMNS,
    (value: Parameter<{ ids: readonly bigint[] }>) => sql<PetsTable>`
      select * from ${table("pets")} where id = any((select ${value("ids")}::bigint[])::bigint[])`,
    "bigint",
  );
  const listFor = prepareLists((fields) => prepareList(connection, fields));
  return {
    /** Adds pets under the ids that follow the recorded one, without a gap. */
    add: prepareAdd(connection),
    /** Adds pets under their own ids, which are not taken, and records how many there were. */
    import: prepareImport(connection),
    find: async (ids: readonly bigint[]) => (await find({ ids })).map(toPet),
    /** Resolves to the page, or only to the revision if it is still the known one. */
    list: async (
      query: PetQuery,
      known = NONE,
    ): Promise<{ readonly revision: Revision; readonly page?: PetPage }> => {
      const rows = await listFor(query)({ query, known });
      const [first] = rows;
      if (!first) throw new TypeError("The table inventory is empty.");
      const revision: Revision = `${first[0]}/${first[1]}`;
      if (revision === known) return { revision };
      const pets = rows.flatMap(([, , id, ...pet]) => (id === null ? [] : toPet([id, ...pet])));
      return { revision, page: pageOf(pets, query.limit) };
    },
  };
}

/**
 * The expression `counter` of a statement that adds pets: it reserves their ids, and `before` is the last id before them.
 * Each such statement updates the one row of `inventory` first, and holds it until its commit is visible. So
 * ids become visible in their order, and a list that continues after the last id seen skips no pet.
 * It also renews `edits`: after a failover, other pets may have the same ids. When a standby has taken over, it may lack
 * ids that the earlier server gave out: then a million are skipped, more than a standby can be behind.
 * `limit 1`: PostgreSQL expects a thousand rows in a new table, and would compile the statement (JIT) for seconds.
 */
export function countIds<Item>(
  { table, callOf }: Connection,
  value: Parameter<Additions<Item>>,
): RawBuilder<unknown> {
  const count = value.of(({ pets }) => pets.length);
  const currentTimeline = callOf("current_timeline");
  return sql`
    counting as (
      update ${table("inventory")}
      set last_id = greatest(last_id, ${value("lastId")}::bigint) + ${count}
          + case when timeline = ${currentTimeline} then 0 else ${sql.lit(1_000_000)} end,
        timeline = ${currentTimeline}, edits = (random() * 9e18)::bigint
      where exists (select from writer)
      returning last_id - ${count} as before),
    counter as (select before from counting limit 1)`;
}

export const NEW_PET_COLUMNS = columnsOf(newPetFields.map((field) => petColumns[field].column));

/** Returns the arrays of the values of these pets, one for each of `NEW_PET_COLUMNS`, for `unnest`. */
export function newPetArrays<Argument>(
  value: Parameter<Argument>,
  petsOf: (argument: Argument) => readonly NewPet[],
): RawBuilder<unknown> {
  const arrays = newPetFields.map(
    (field) =>
      sql`${value.of((argument) => petsOf(argument).map((pet) => pet[field]))}::${sql.raw(petColumns[field].type)}[]`,
  );
  return sql.join(arrays);
}

function prepareAdd(connection: Connection) {
  return prepareWrite(connection, (value: Parameter<Additions<NewPet>>) => ({
    expressions: sql`
        ${countIds(connection, value)},
        added as (
          insert into ${connection.table("pets")} (id, ${NEW_PET_COLUMNS})
          select before + position, ${NEW_PET_COLUMNS}
          from counter, unnest(${newPetArrays(value, ({ pets }) => pets)})
            with ordinality as input (${NEW_PET_COLUMNS}, position))`,
    written: sql`select array[before] from counter`,
  }));
}

/** Like a statement that adds pets, it updates `inventory` first. */
function prepareImport(connection: Connection) {
  const { table } = connection;
  return prepareWrite(connection, (value: Parameter<readonly Pet[]>) => {
    const ids = value.of((pets) => pets.map(({ id }) => id));
    return {
      expressions: sql`
        input as (
          select * from unnest(${ids}::bigint[], ${newPetArrays(value, (pets) => pets)})
            as input (id, ${NEW_PET_COLUMNS})),
        counter as (
          update ${table("inventory")}
          set last_id = greatest(last_id, (select max(id) from input)), edits = (random() * 9e18)::bigint
          where exists (select from writer) returning 1),
        added as (
          insert into ${table("pets")} (id, ${NEW_PET_COLUMNS})
          select id, ${NEW_PET_COLUMNS} from input where exists (select from counter)
          returning 1)`,
      written: sql`select array[count(*)] from added`,
    };
  });
}

/** Beside the revision stands a pet; all of it is null if there is none. */
interface ListRow extends Omit<PetsTable, "id"> {
  readonly last_id: bigint;
  readonly edits: bigint;
  readonly id: bigint | null;
}

const textBytes = sql.join(
  newPetFields
    .map((field) => petColumns[field])
    .filter(({ type }) => type === "text")
    .map(({ column }) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
  sql` + `,
);

/**
 * Prepares the statement that lists the pets whose fields have the values in the query. It reads the revision and, in
 * the same snapshot, the pets if the revision is not the known one: at most one more than `pageOf` takes. The lengths
 * of texts are known without reading the texts from the disk.
 */
function prepareList({ select, table }: Connection, fields: readonly (keyof PetFilter)[]) {
  return select(
    ["last_id", "edits", ...PET_COLUMNS],
    (value: Parameter<{ query: PetQuery; known: Revision }>) => {
      const isAfter = sql`id > ${value.of(({ query }) => query.after ?? 0n)}`;
      const conditions = fields.map(
        (field) =>
          sql`${sql.ref(petColumns[field].column)} = ${value.of(({ query }) => query[field])}`,
      );
      // The constant limit lets PostgreSQL plan the statement once, and not at each list. With a filter, the best index
      // depends on how frequent the value is.
      const most =
        fields.length === 0 ? sql`order by id limit ${sql.lit(PAGE_LIMIT.maximum + 1)}` : sql``;
      const known = (part: number) => value.of(({ known }) => known.split("/")[part]);
      return sql<ListRow>`
        select inventory.last_id, inventory.edits, page.* from (select * from ${table("inventory")} limit 1) as inventory
        left join lateral (
          select * from (
            select *, sum(${textBytes}) over (
              order by id rows between unbounded preceding and 2 preceding) as bytes_before
            from (
              select * from (
                select * from ${table("pets")} where ${sql.join([isAfter, ...conditions], sql` and `)} ${most}) as found
              where inventory.last_id <> ${known(0)}::bigint or inventory.edits <> ${known(1)}::bigint
              order by id limit ${value.of(({ query }) => query.limit + 1)}
            ) as counted
          ) as measured
          where bytes_before is null or bytes_before <= ${sql.lit(PAGE_BYTES)}
        ) as page on true
        order by page.id`;
    },
    "bigint",
  );
}
