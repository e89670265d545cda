import {
  CREATION_COLUMNS,
  toCreation,
  type Parameter,
  type PetCreation,
} from "@petstore/storage-sql";
import type { Connection } from "../database/connection.js";
import { prepareManyRows } from "./many-rows.js";

export interface PetCreations {
  find(token: string): PetCreation | undefined;
  /** Adds creations, or replaces those with the same tokens. */
  save(creations: readonly PetCreation[]): void;
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
    save: prepareManyRows((rows) => prepareSave(connection, rows)),
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

function prepareSave(connection: Connection, rows: number) {
  return connection.change((queries, value: Parameter<readonly PetCreation[]>) =>
    queries.replaceInto("pet_creations").values(
      Array.from({ length: rows }, (_, row) => ({
        token: value.of((creations) => creations[row]?.token),
        pet_id: value.of((creations) => creations[row]?.petId),
        fingerprint: value.of((creations) => creations[row]?.fingerprint),
        expires_at: value.of((creations) => BigInt(creations[row]?.expiresAt ?? 0)),
      })),
    ),
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
