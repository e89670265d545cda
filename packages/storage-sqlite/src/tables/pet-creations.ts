import {
  CREATION_COLUMNS,
  toCreation,
  type Parameter,
  type PetCreation,
} from "@petstore/storage-sql";
import type { Connection } from "../database/connection.js";

/** The statements on the table of creations that are remembered. */
export interface PetCreations {
  find(token: string): PetCreation | undefined;
  /** Adds a creation, or replaces the one with the same token. */
  save(creation: PetCreation): void;
  /** Removes up to `count` creations that have expired at this time, the oldest first. */
  removeExpired(now: number, count: number): void;
}

export function preparePetCreations(connection: Connection): PetCreations {
  const find = prepareFind(connection);
  const removeExpired = prepareRemoveExpired(connection);
  return {
    find: (token) => {
      const row = find.get({ token });
      return row && toCreation(row);
    },
    save: prepareSave(connection),
    removeExpired: (now, count) => removeExpired({ now: BigInt(now), count }),
  };
}

function prepareFind(connection: Connection) {
  return connection.select(
    CREATION_COLUMNS,
    (queries, value: Parameter<{ token: string }>) =>
      queries
        .selectFrom("pet_creations")
        .select(CREATION_COLUMNS)
        .where("token", "=", value("token")),
    "bigint",
  );
}

function prepareSave(connection: Connection) {
  return connection.change((queries, value: Parameter<PetCreation>) =>
    queries.replaceInto("pet_creations").values({
      token: value("token"),
      pet_id: value("petId"),
      fingerprint: value("fingerprint"),
      expires_at: value.of(({ expiresAt }) => BigInt(expiresAt)),
    }),
  );
}

function prepareRemoveExpired(connection: Connection) {
  return connection.change((queries, value: Parameter<{ now: bigint; count: number }>) =>
    queries
      .deleteFrom("pet_creations")
      .where("token", "in", (expired) =>
        expired
          .selectFrom("pet_creations")
          .select("token")
          .where("expires_at", "<=", value("now"))
          .orderBy("expires_at")
          .limit(value("count")),
      ),
  );
}
