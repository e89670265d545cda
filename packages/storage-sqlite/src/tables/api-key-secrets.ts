import type { ApiKeySecret } from "@petstore/core";
import type { ApiKeySecretsTable, Parameter, Tuple } from "@petstore/storage-sql";
import type { Connection } from "../database/connection.js";

/** The statements on the table of secrets, which stores their digests. */
export interface ApiKeySecrets {
  /** Replaces the secrets of a key with these, newest first. */
  replace(keyId: string, secrets: readonly ApiKeySecret[]): void;
  /** The secrets of a key, newest first. */
  list(keyId: string): readonly ApiKeySecret[];
}

const COLUMNS = ["digest", "hint", "expires_at"] as const;

interface NewSecret extends ApiKeySecret {
  readonly keyId: string;
  readonly position: number;
}

/** Prepares the statements on the table of secrets. */
export function prepareApiKeySecrets(connection: Connection): ApiKeySecrets {
  const insert = prepareInsert(connection);
  const remove = prepareRemove(connection);
  const list = prepareList(connection);
  return {
    replace: (keyId, secrets) => {
      remove({ keyId });
      secrets.forEach((secret, position) => insert({ ...secret, keyId, position }));
    },
    list: (keyId) => list.all({ keyId }).map(toSecret),
  };
}

function prepareInsert(connection: Connection) {
  return connection.change((queries, value: Parameter<NewSecret>) =>
    queries.insertInto("api_key_secrets").values({
      digest: value("digest"),
      key_id: value("keyId"),
      position: value("position"),
      hint: value("hint"),
      expires_at: value.of(({ expiresAt }) => expiresAt ?? null),
    }),
  );
}

function prepareRemove(connection: Connection) {
  return connection.change((queries, value: Parameter<{ keyId: string }>) =>
    queries.deleteFrom("api_key_secrets").where("key_id", "=", value("keyId")),
  );
}

function prepareList(connection: Connection) {
  return connection.select(COLUMNS, (queries, value: Parameter<{ keyId: string }>) =>
    queries
      .selectFrom("api_key_secrets")
      .select(COLUMNS)
      .where("key_id", "=", value("keyId"))
      .orderBy("position"),
  );
}

function toSecret([digest, hint, expiresAt]: Tuple<
  ApiKeySecretsTable,
  typeof COLUMNS
>): ApiKeySecret {
  return { digest, hint, expiresAt: expiresAt ?? undefined };
}
