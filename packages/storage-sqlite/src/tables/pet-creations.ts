import type { Creation } from "@petstore/core";
import type { Selectable } from "kysely";
import type { Connection } from "../database/connection.js";
import type { Parameter, Tuple } from "../database/statement.js";
import type { PetCreationsTable } from "./schema.js";

/** A creation under its token. */
export interface PetCreation extends Omit<Creation, "isReplay"> {
  readonly token: string;
}

/** The statements on the table of creations that are remembered. */
export interface PetCreations {
  find(token: string): PetCreation | undefined;
  /** Adds a creation, or replaces the one with the same token. */
  save(creation: PetCreation): void;
  /** Removes up to `count` creations that have expired at this time, the oldest first. */
  removeExpired(now: number, count: number): void;
}

const COLUMNS = ["token", "pet_id", "fingerprint", "expires_at"] as const;

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
    COLUMNS,
    (queries, value: Parameter<{ token: string }>) =>
      queries.selectFrom("pet_creations").select(COLUMNS).where("token", "=", value("token")),
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

function toCreation([token, petId, fingerprint, expiresAt]: Tuple<
  Selectable<PetCreationsTable>,
  typeof COLUMNS
>): PetCreation {
  return { token, petId, fingerprint, expiresAt: Number(expiresAt) };
}
