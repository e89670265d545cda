import type { NewPet, Pet, PetStatus } from "@petstore/core";
import type { Insertable, Selectable } from "kysely";
import type { Connection } from "../connection.js";
import type { PetsTable } from "../schema.js";
import type { Place, Tuple } from "../statement.js";

/** The statements on the table of animals. */
export interface Pets {
  /** Adds an animal and answers its id. */
  insert(pet: NewPet): bigint;
  find(id: bigint): Pet | undefined;
  /** Up to `count` animals with an id above `after`, in ascending order of id. */
  list(count: number, after: bigint, status: PetStatus | undefined): readonly Pet[];
}

const COLUMNS = ["id", "name", "category_id", "status"] as const;

type Row = Tuple<Selectable<PetsTable>, typeof COLUMNS>;

export function preparePets(connection: Connection): Pets {
  const insert = prepareInsert(connection);
  const find = prepareFind(connection);
  const list = prepareList(connection);
  const listByStatus = prepareListByStatus(connection);
  return {
    insert: (pet) => BigInt(insert.run(toRow(pet))),
    find: (id) => {
      const row = find.get({ id });
      return row && toPet(row);
    },
    list: (count, after, status) => {
      const rows =
        status === undefined
          ? list.all({ count, after })
          : listByStatus.all({ count, after, status });
      return rows.map(toPet);
    },
  };
}

function prepareInsert(connection: Connection) {
  return connection.prepare(
    (queries, value: Place<Insertable<PetsTable>>) =>
      queries.insertInto("pets").values({
        name: value("name"),
        category_id: value("category_id"),
        status: value("status"),
      }),
    "bigint",
  );
}

function prepareFind(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ id: bigint }>) =>
      queries.selectFrom("pets").select(COLUMNS).where("id", "=", value("id")),
    COLUMNS,
  );
}

function prepareList(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ after: bigint; count: number }>) =>
      queries
        .selectFrom("pets")
        .select(COLUMNS)
        .where("id", ">", value("after"))
        .orderBy("id")
        .limit(value("count")),
    COLUMNS,
  );
}

function prepareListByStatus(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ status: PetStatus; after: bigint; count: number }>) =>
      queries
        .selectFrom("pets")
        .select(COLUMNS)
        .where("status", "=", value("status"))
        .where("id", ">", value("after"))
        .orderBy("id")
        .limit(value("count")),
    COLUMNS,
  );
}

function toRow(pet: NewPet): Insertable<PetsTable> {
  return { name: pet.name, category_id: pet.categoryId, status: pet.status };
}

function toPet([id, name, categoryId, status]: Row): Pet {
  return Object.freeze({ id, name, categoryId, status });
}
