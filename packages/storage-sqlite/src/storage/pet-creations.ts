import { CREATION_COLUMNS, toCreation } from "@petstore/storage-sql";
import type { Parameter, PetCreation } from "@petstore/storage-sql";
import type { Connection } from "../database/connection.js";
import { prepareManyRows } from "./many-rows.js";

export type PetCreations = ReturnType<typeof preparePetCreations>;

export function preparePetCreations({ change, selectBigints }: Connection) {
  const creation = selectBigints(CREATION_COLUMNS, (queries, value: Parameter<{ token: string }>) =>
    queries
      .selectFrom("pet_creations")
      .select(CREATION_COLUMNS)
      .where("token", "=", value("token")),
  );
  const prepareSave = (rows: number) =>
    change((queries, value: Parameter<readonly PetCreation[]>) =>
      queries.replaceInto("pet_creations").values(
        Array.from({ length: rows }, (_, row) => ({
          token: value.of((creations) => creations[row]?.token),
          pet_id: value.of((creations) => creations[row]?.petId),
          fingerprint: value.of((creations) => creations[row]?.fingerprint),
          expires_at: value.of((creations) => BigInt(creations[row]?.expiresAt ?? 0)),
        })),
      ),
    );
  return {
    find: (token: string) => creation.find({ token }, toCreation),
    /** Adds creations, or replaces those with the same tokens. */
    save: prepareManyRows(prepareSave),
    /** Removes up to `count` creations that have expired at this time, the oldest first. */
    removeExpired: change((queries, value: Parameter<{ now: number; count: number }>) => {
      const now = value.of((argument) => BigInt(argument.now));
      return queries
        .deleteFrom("pet_creations")
        .where("token", "in", (expired) =>
          expired
            .selectFrom("pet_creations")
            .select("token")
            .where("expires_at", "<=", now)
            .orderBy("expires_at")
            .limit(value("count")),
        );
    }),
  };
}
