import type { ApiKeySecret } from "@petstore/core";
import type { Selectable } from "kysely";
import type { Connection } from "../connection.js";
import type { ApiKeySecretsTable } from "../schema.js";
import type { Place } from "../statement.js";

/** The statements on the table of secrets: of their digests. */
export interface ApiKeySecrets {
  /** Gives the key these secrets, newest first, in the place of those it has. */
  replace(keyId: string, secrets: readonly ApiKeySecret[]): void;
  /** The secrets of a key, newest first. */
  list(keyId: string): readonly ApiKeySecret[];
}

type Row = Selectable<ApiKeySecretsTable>;

export function prepareApiKeySecrets(connection: Connection): ApiKeySecrets {
  const insert = connection.prepare((queries, value: Place<Row>) =>
    queries.insertInto("api_key_secrets").values({
      digest: value("digest"),
      key_id: value("key_id"),
      position: value("position"),
      hint: value("hint"),
      expires_at: value("expires_at"),
    }),
  );

  const remove = connection.prepare((queries, value: Place<Pick<Row, "key_id">>) =>
    queries.deleteFrom("api_key_secrets").where("key_id", "=", value("key_id")),
  );

  const list = connection.prepare((queries, value: Place<Pick<Row, "key_id">>) =>
    queries
      .selectFrom("api_key_secrets")
      .selectAll()
      .where("key_id", "=", value("key_id"))
      .orderBy("position"),
  );

  return {
    replace: (keyId, secrets) => {
      remove.run({ key_id: keyId });
      for (const [position, secret] of secrets.entries()) {
        insert.run(toRow(keyId, position, secret));
      }
    },
    list: (keyId) => list.all({ key_id: keyId }).map(toSecret),
  };
}

function toRow(keyId: string, position: number, secret: ApiKeySecret): Row {
  return {
    digest: secret.digest,
    key_id: keyId,
    position,
    hint: secret.hint,
    expires_at: secret.expiresAt ?? null,
  };
}

function toSecret(row: Row): ApiKeySecret {
  return { digest: row.digest, hint: row.hint, expiresAt: row.expires_at ?? undefined };
}
