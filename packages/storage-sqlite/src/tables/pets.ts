import type { Pet, PetStatus } from "@petstore/core";
import type { Selectable } from "kysely";
import type { Connection } from "../connection.js";
import type { PetsTable } from "../schema.js";
import type { Place, Tuple } from "../statement.js";

/** The statements that read the table of animals. */
export interface PetReads {
  find(id: bigint): Pet | undefined;
  /** Up to `count` animals with an id above `after`, in ascending order of id. */
  list(count: number, after: bigint, status: PetStatus | undefined): readonly Pet[];
}

/** The statements that write it. */
export interface PetWrites {
  /** The highest id that was ever given out; 0 when none was. */
  lastId(): bigint;
  /** Adds animals, under ids that none has ever had. */
  insert(pets: readonly Pet[]): void;
}

const COLUMNS = ["id", "name", "category_id", "status"] as const;

/** Rows in one statement cost two thirds of one statement each. */
const MANY = 8;

type Row = Tuple<Selectable<PetsTable>, typeof COLUMNS>;

export function preparePetReads(connection: Connection): PetReads {
  const find = prepareFind(connection);
  const list = prepareList(connection);
  const listByStatus = prepareListByStatus(connection);
  return {
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

export function preparePetWrites(connection: Connection): PetWrites {
  const lastId = prepareLastId(connection);
  const insertOne = prepareInsert(connection, 1);
  const insertMany = prepareInsert(connection, MANY);
  return {
    lastId: () => {
      const [ofPets = 0n, ofSequence = 0n] = lastId.all({}).map(({ id }) => id);
      return ofPets > ofSequence ? ofPets : ofSequence;
    },
    insert: (pets) => {
      const inMany = pets.length - (pets.length % MANY);
      for (let at = 0; at < inMany; at += MANY) insertMany.run(pets.slice(at, at + MANY));
      for (let at = inMany; at < pets.length; at += 1) insertOne.run(pets.slice(at, at + 1));
    },
  };
}

/** As AUTOINCREMENT would have it: the sequence does not know of an id that was changed by hand. */
function prepareLastId(connection: Connection) {
  return connection.prepare(
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
  return connection.prepare(
    (queries, value: Place<readonly Pet[]>) =>
      queries.insertInto("pets").values(
        Array.from({ length: rows }, (_, row) => ({
          id: value.of((pets) => pets[row]?.id),
          name: value.of((pets) => pets[row]?.name),
          category_id: value.of((pets) => pets[row]?.categoryId),
          status: value.of((pets) => pets[row]?.status),
        })),
      ),
    "bigint",
  );
}

function prepareFind(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ id: bigint }>) =>
      queries.selectFrom("pets").select(COLUMNS).where("id", "=", value("id")),
    COLUMNS,
    "bigint",
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
    "bigint",
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
    "bigint",
  );
}

function toPet([id, name, categoryId, status]: Row): Pet {
  return Object.freeze({ id, name, categoryId, status });
}
