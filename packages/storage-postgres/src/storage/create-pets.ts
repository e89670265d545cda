import { petOf } from "@petstore/core/internal";
import { INT64_MAX } from "@petstore/core/storage";
import type { Creation, CreationRequest, NewPet } from "@petstore/core/storage";
import { AGAIN, createGroupCommit, NoIdLeft, type PetCreation } from "@petstore/storage-sql";
import type { Call, Outcome, Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { CallSettings } from "../commit/calls.js";
import { prepareWrite, type Recorded } from "../commit/write.js";
import type { Writer } from "../commit/writer.js";
import type { Connection } from "../database/connection.js";
import { countIds, NEW_PET_COLUMNS, newPetArrays, type PetsToAdd } from "./new-pets.js";
import { preparePetCreations, type PetCreations, type PetToCreate } from "./pet-creations.js";

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
      : idsAfter(
          await writer.write(insert, { pets: pets.map(({ pet }) => pet), lastId }),
          pets.length,
        );
    for (const id of ids) if (id !== null && id > lastId) lastId = id;
    return ids;
  };

  return async <T>(
    calls: readonly Call<Added, PetToCreate, T>[],
  ): Promise<readonly Outcome<T>[]> => {
    const subjects = calls.map(({ subject }) => subject);
    const earlierOf = await findEarlier(creations, subjects);
    const tokens = new Set<string>();
    const wanted = subjects.filter((subject) => !earlierOf(subject) && isFirst(tokens, subject));
    const ids = await add(wanted);
    const added = new Map(wanted.map((subject, index) => [subject, ids[index] ?? undefined]));
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

/** Whether no earlier call of the batch has the token of this one. */
function isFirst(tokens: Set<string>, { request }: PetToCreate): boolean {
  if (request === undefined) return true;
  const { size } = tokens;
  return tokens.add(request.token).size > size;
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

/** Prepares the statement that adds pets under the ids that follow the recorded one, without a gap. */
function prepareAdd(connection: Connection) {
  return prepareWrite(connection, (value: Parameter<PetsToAdd<NewPet>>) => ({
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
