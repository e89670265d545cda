import { NO_USAGE, type KeyHolder, type Usage } from "@petstore/core";
import { sql, type Selectable } from "kysely";
import type { Connection } from "../database/connection.js";
import type { Parameter, Tuple } from "../database/statement.js";
import { usageColumns, usageFields, type ApiKeysTable } from "./schema.js";

/** The statements on the table of usage, joined with the tables of keys and secrets. */
export interface ApiKeyUsage {
  /** The key that has the secret with this digest, and its usage. */
  findHolder(digest: string): KeyHolder | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
  /** Removes what is stored for the key with this id, if anything is. */
  remove(keyId: string): void;
}

/** The columns of a usage, for a select that joins its table. */
export const USAGE_COLUMNS = Object.values(usageColumns);

/** The values of these columns in a left join: null if no usage is stored yet. */
export type UsageRow = Record<(typeof USAGE_COLUMNS)[number], number | null>;

const HOLDER_COLUMNS = [
  "id",
  "plan",
  "per_minute",
  "per_day",
  "expires_at",
  "revoked_at",
  "secret_expires_at",
  ...USAGE_COLUMNS,
] as const;

type HolderRow = Selectable<ApiKeysTable> &
  UsageRow & { readonly secret_expires_at: number | null };

export function prepareApiKeyUsage(connection: Connection): ApiKeyUsage {
  const findHolder = prepareFindHolder(connection);
  const find = prepareFind(connection);
  const save = prepareSave(connection);
  const remove = prepareRemove(connection);
  return {
    findHolder: (digest) => {
      const row = findHolder.get({ digest });
      return row && toHolder(row);
    },
    find: (id) => {
      const row = find.get({ id });
      return row && toUsage(row);
    },
    save: (keyId, usage) => save({ keyId, usage }),
    remove: (keyId) => remove({ keyId }),
  };
}

function prepareFindHolder(connection: Connection) {
  return connection.select(HOLDER_COLUMNS, (queries, value: Parameter<{ digest: string }>) =>
    queries
      .selectFrom("api_key_secrets as secret")
      .innerJoin("api_keys as key", "key.id", "secret.key_id")
      .leftJoin("api_key_usage as usage", "usage.key_id", "key.id")
      .select(["key.id", "key.plan", "key.per_minute", "key.per_day"])
      .select(["key.expires_at", "key.revoked_at", "secret.expires_at as secret_expires_at"])
      .select(USAGE_COLUMNS)
      .where("secret.digest", "=", value("digest")),
  );
}

function prepareFind(connection: Connection) {
  return connection.select(USAGE_COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    queries
      .selectFrom("api_keys")
      .leftJoin("api_key_usage", "key_id", "id")
      .select(USAGE_COLUMNS)
      .where("id", "=", value("id")),
  );
}

function prepareSave(connection: Connection) {
  return connection.change((queries, value: Parameter<{ keyId: string; usage: Usage }>) => {
    const values = usageFields.map((field) => value.of(({ usage }) => usage[field]));
    return queries
      .insertInto("api_key_usage")
      .columns(["key_id", ...USAGE_COLUMNS])
      .expression(sql`values (${sql.join([value("keyId"), ...values])})`)
      .onConflict((conflict) =>
        conflict
          .column("key_id")
          .doUpdateSet((row) =>
            Object.fromEntries(
              USAGE_COLUMNS.map((column) => [column, row.ref(`excluded.${column}`)]),
            ),
          ),
      );
  });
}

function prepareRemove(connection: Connection) {
  return connection.change((queries, value: Parameter<{ keyId: string }>) =>
    queries.deleteFrom("api_key_usage").where("key_id", "=", value("keyId")),
  );
}

function toHolder([
  id,
  plan,
  perMinute,
  perDay,
  expiresAt,
  revokedAt,
  secretExpiresAt,
  ...usage
]: Tuple<HolderRow, typeof HOLDER_COLUMNS>): KeyHolder {
  return {
    key: {
      id,
      plan,
      limits: { perMinute, perDay },
      expiresAt: expiresAt ?? undefined,
      revokedAt: revokedAt ?? undefined,
    },
    secretExpiresAt: secretExpiresAt ?? undefined,
    usage: toUsage(usage),
  };
}

/** Returns the usage in these values of `USAGE_COLUMNS`, which are null if no usage is stored yet. */
export function toUsage(values: readonly (number | null)[]): Usage {
  const usage: { -readonly [Field in keyof Usage]: Usage[Field] } = { ...NO_USAGE };
  usageFields.forEach((field, index) => {
    usage[field] = values[index] ?? 0;
  });
  return usage;
}
