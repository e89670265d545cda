import { petOf } from "@petstore/core/internal";
import { INT64_MAX } from "@petstore/core/storage";
import type { Creation, CreationRequest, NewPet } from "@petstore/core/storage";
import { AGAIN, createGroupCommit, CREATION_COLUMNS, NoIdLeft } from "@petstore/storage-sql";
import { toCreation, type Call, type Outcome, type Parameter } from "@petstore/storage-sql";
import type { PetCreation, SqlSchema } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { CallSettings } from "../commit/calls.js";
import { LEVELS, prepareWrite, type Recorded } from "../commit/write.js";
import type { Writer } from "../commit/writer.js";
import type { Connection } from "../database/connection.js";
import { countIds, NEW_PET_COLUMNS, newPetArrays } from "./new-pets.js";
import type { PetsToAdd, PetToCreate } from "./new-pets.js";

/** Creates the calls that add pets. Those that arrive together share a statement. */
export function createAdditions(connection: Connection, writer: Writer, settings: CallSettings) {
  const group = createGroupCommit<Added, PetToCreate>({
    ...settings,
    kind: { storage: "postgres", group: "writes" },
    commit: createCommit(connection, writer),
  });
  return {
    create: (pet: NewPet) => group.add("Adding a pet", ({ id }) => petOf(id, pet), { pet }),
    createOnce: (pet: NewPet, request: CreationRequest) =>
      group.add("Adding a pet once", (added) => creationOf(added, request), { pet, request }),
    close: () => group.close(),
  };
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

/**
 * Looks for the tokens, and adds the pets of those that are not remembered. A call whose token another call
 * claims at the same time runs again, and then finds it. It also commits if it adds no pet: the wait of an earlier
 * commit for a synchronous standby may have been ended, and this commit waits for both.
 */
function createCommit(connection: Connection, writer: Writer) {
  const insert = prepareAdd(connection);
  const creations = preparePetCreations(connection);
  // A standby that was behind when it took over must not give out the same ids again.
  let lastId = 0n;

  const add = async (pets: readonly PetToCreate[]): Promise<Recorded> => {
    if (lastId > INT64_MAX - BigInt(pets.length)) throw new NoIdLeft();
    // The statement that knows no tokens takes a third less time.
    const ids = pets.some(({ request }) => request)
      ? await writer.write(creations.add, { pets, lastId })
      : idsAfter(await writer.write(insert, { pets, lastId }), pets.length);
    for (const id of ids) if (id !== null && id > lastId) lastId = id;
    return ids;
  };

  return async <T>(calls: readonly Call<Added, PetToCreate, T>[]) => {
    const subjects = calls.map(({ subject }) => subject);
    const earlierOf = await findEarlier(creations, subjects);
    // Of those with the same token, only the first.
    const wanted = new Map<unknown, PetToCreate>();
    for (const subject of subjects) {
      const key = subject.request?.token ?? subject;
      if (!earlierOf(subject) && !wanted.has(key)) wanted.set(key, subject);
    }
    const pets = [...wanted.values()];
    const ids = await add(pets);
    const added = new Map(pets.map((pet, index) => [pet, ids[index] ?? undefined]));
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

const petsOf = ({ pets }: PetsToAdd) => pets.map(({ pet }) => pet);

/** Prepares the statement that adds pets under the ids that follow the recorded one, without a gap. */
function prepareAdd(connection: Connection) {
  return prepareWrite(connection, (value: Parameter<PetsToAdd>) => ({
    expressions: sql`
        ${countIds(connection, value)},
        added as (
          insert into ${connection.table("pets")} (id, ${NEW_PET_COLUMNS})
          select before + position, ${NEW_PET_COLUMNS}
          from counter, unnest(${newPetArrays(value, petsOf)})
            with ordinality as input (${NEW_PET_COLUMNS}, position))`,
    written: sql`select array[before] from counter`,
  }));
}

type PetCreations = ReturnType<typeof preparePetCreations>;

function preparePetCreations(connection: Connection) {
  const { prepare, select, table } = connection;
  const creations = table("pet_creations");
  const find = select(
    CREATION_COLUMNS,
    (value: Parameter<{ tokens: readonly string[] }>) => sql<SqlSchema["pet_creations"]>`
      select * from ${creations} where token = any(${value("tokens")}::text[])`,
    "bigint",
  );
  return {
    /** The creations with these tokens, expired or not. */
    find: async (tokens: readonly string[]) => (await find({ tokens })).map(toCreation),
    /** Adds pets; records their ids, or null for one whose token another creation has. */
    add: prepareAddOnce(connection),
    /** Removes up to `count` creations that have expired at this time, the oldest first. */
    removeExpired: prepare(
      [],
      (value: Parameter<{ now: number; count: number }>) => sql`
      delete from ${creations} where token = any(array(
        select token from ${creations} where expires_at <= ${value("now")}
        order by expires_at limit ${value("count")} for update skip locked))
      returning ${LEVELS.off}`,
    ),
  };
}

/** The statements that add pets take turns (`countIds`), and so never wait for each other's tokens. */
function prepareAddOnce(connection: Connection) {
  const { table } = connection;
  return prepareWrite(connection, (value: Parameter<PetsToAdd>) => {
    const each = <T>(read: (item: PetToCreate) => T) => value.of(({ pets }) => pets.map(read));
    return {
      expressions: sql`
        wanted as (
          select * from unnest(
            ${newPetArrays(value, petsOf)},
            ${each(({ request }) => request?.token ?? null)}::text[],
            ${each(({ request }) => request?.fingerprint ?? null)}::text[],
            ${each(({ request }) => request?.now ?? null)}::bigint[],
            ${each(({ request }) => request?.expiresAt ?? null)}::bigint[]
          ) with ordinality as input (${NEW_PET_COLUMNS}, token, fingerprint, now, expires_at, position)),
        ${countIds(connection, value)},
        claimed as (
          insert into ${table("pet_creations")} as earlier (token, pet_id, fingerprint, expires_at)
          select token, before + position, fingerprint, expires_at from counter, wanted
          where token is not null order by token
          on conflict (token) do update
          set pet_id = excluded.pet_id, fingerprint = excluded.fingerprint, expires_at = excluded.expires_at
          where earlier.expires_at <= (select now from wanted where wanted.token = excluded.token)
          returning token),
        added as (
          insert into ${table("pets")} (id, ${NEW_PET_COLUMNS})
          select before + position, ${NEW_PET_COLUMNS} from counter, wanted
          where token is null or token in (select token from claimed)
          returning id)`,
      written: sql`
        select array_agg(added.id order by position) from counter cross join wanted
        left join added on added.id = before + position`,
    };
  });
}
