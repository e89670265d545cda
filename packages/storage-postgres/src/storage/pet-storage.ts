import type { Pet } from "@petstore/core";
import { missingPets, type ImportedPets, type PetStorage } from "@petstore/core/storage";
import { Contention, PET_COLUMNS, toPet } from "@petstore/storage-sql";
import type { Parameter, PetsTable } from "@petstore/storage-sql";
import { sql } from "kysely";
import { createLookUp, createSerialRun, IMPORT_TIMEOUT } from "../commit/calls.js";
import type { Attempts, CallSettings } from "../commit/calls.js";
import { prepareWrite } from "../commit/write.js";
import type { Writers } from "../commit/writer.js";
import type { Connection } from "../database/connection.js";
import { sqlState } from "../database/errors.js";
import { createAdditions } from "./create-pets.js";
import { createLists } from "./list-pets.js";
import { NEW_PET_COLUMNS, newPetArrays } from "./new-pets.js";

export function createPostgresPetStorage(
  connection: Connection,
  writers: Writers,
  run: Attempts["run"],
  settings: CallSettings,
) {
  const additions = createAdditions(connection, writers.open("on"), settings);
  const findAll = prepareFind(connection);
  const finds = createLookUp("Finding a pet", settings, findAll);
  const lists = createLists(connection, settings);
  const inTurn = createSerialRun(run);
  const insert = prepareInsert(connection);
  const imports = writers.open("on");
  const importPets = async (moved: readonly Pet[]): Promise<ImportedPets> => {
    const { missing, conflict } = missingPets(moved, await findAll(moved.map(({ id }) => id)));
    // Also if none is missing, as in `createCommit`. If another process has just added one, the pets are compared again.
    await imports.write(insert, missing, IMPORT_TIMEOUT).catch((error: unknown) => {
      throw sqlState(error) === "23505" ? new Contention() : error;
    });
    return { added: missing.length, conflict };
  };
  const pets: PetStorage = {
    create: additions.create,
    createOnce: additions.createOnce,
    import: (moved) => inTurn("Importing pets", () => importPets(moved), IMPORT_TIMEOUT),
    find: finds.find,
    list: lists.find,
  };
  const close = () => Promise.all([additions.close(), finds.close(), lists.close()]);
  return { pets, close };
}

/** Prepares the function that finds pets by their ids, and resolves to the one that has them. */
function prepareFind({ select, table }: Connection) {
  // In a subquery, the number of ids does not count, so that PostgreSQL plans the statement once.
  const find = select(
    PET_COLUMNS,
    (value: Parameter<{ ids: readonly bigint[] }>) => sql<PetsTable>`
      select * from ${table("pets")} where id = any((select ${value("ids")}::bigint[])::bigint[])`,
    "bigint",
  );
  return async (ids: readonly bigint[]) => {
    const found = (await find({ ids: [...new Set(ids)] })).map(toPet);
    const byId = new Map(found.map((pet) => [pet.id, pet]));
    return (id: bigint) => byId.get(id);
  };
}

/**
 * Prepares the statement that adds pets under their own ids, which are not taken, and records how many there were. It
 * updates `inventory` first (`countIds`).
 */
function prepareInsert(connection: Connection) {
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
