import { PAGE_LIMIT, type PetPage } from "@petstore/core";
import type { PetFilter } from "@petstore/core/internal";
import { PAGE_BYTES, pageOf, type PetQuery } from "@petstore/core/storage";
import { createPageCache, keyOf, newPetFields, PET_COLUMNS } from "@petstore/storage-sql";
import { petColumns } from "@petstore/storage-sql";
import { prepareLists, toPet, type Parameter, type PetsTable } from "@petstore/storage-sql";
import { sql } from "kysely";
import { createLookUp, type CallSettings } from "../commit/calls.js";
import type { Connection } from "../database/connection.js";

/** Changes with every change of the pets: the greatest id, and the random `edits`. */
type Revision = `${bigint}/${bigint}`;

/** No inventory has this revision. */
const NONE: Revision = "-1/-1";

/** How many lists of a batch are read at once: those of one caller must not take all connections for long. */
const LISTS_AT_ONCE = 4;

/** Creates the lists of pets. Equal queries share a statement, which reads no pets if none changed. */
export function createLists(connection: Connection, settings: CallSettings) {
  const listFor = prepareLists((fields) => prepareList(connection, fields));
  const cache = createPageCache<Revision>();
  let newest: Revision | undefined;

  const read = async (query: PetQuery): Promise<PetPage> => {
    const known = newest;
    const cached = known && cache.find(known, query);
    const rows = await listFor(query)({ query, known: cached ? known : NONE });
    const [first] = rows;
    if (!first) throw new TypeError("The table inventory is empty.");
    const revision: Revision = `${first[0]}/${first[1]}`;
    newest = revision;
    if (cached && revision === known) return cached;
    const pets = rows.flatMap(([, , id, ...pet]) => (id === null ? [] : toPet([id, ...pet])));
    const page = pageOf(pets, query.limit);
    cache.keep(revision, query, page);
    return page;
  };
  const readAll = async (queries: readonly PetQuery[]) => {
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
  return createLookUp("Listing pets", settings, readAll);
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
