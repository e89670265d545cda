import type { ApiKeySecret, KeyQuery, KeyWithUsage, StoredApiKey } from "@petstore/core/storage";
import { KEY_COLUMNS, keyColumns, keyValues, SECRET_COLUMNS } from "@petstore/storage-sql";
import { toKeyWithUsage, toSecret } from "@petstore/storage-sql";
import type { BareKey, KeyRow, KeysAfter, Parameter } from "@petstore/storage-sql";
import { sql, type Kysely } from "kysely";
import type { Connection } from "../database/connection.js";
import type { Schema } from "./schema.js";

export type ApiKeys = ReturnType<typeof prepareApiKeys>;

export function prepareApiKeys(connection: Connection) {
  const keys = connection.select(KEY_COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    selectAll(queries).where("id", "=", value("id")),
  );
  const list = connection.select(KEY_COLUMNS, (queries, value: Parameter<KeysAfter>) =>
    selectAll(queries).where("id", ">", value("after")).orderBy("id").limit(value("count")),
  );
  const listBanned = connection.select(KEY_COLUMNS, (queries, value: Parameter<KeysAfter>) =>
    selectAll(queries)
      // A literal, so that SQLite can use the index of banned keys.
      .where("bans", ">", sql.lit(0))
      .where("key_id", ">", value("after"))
      .orderBy("key_id")
      .limit(value("count")),
  );
  const { insert, update } = prepareWrites(connection);
  const secrets = prepareSecrets(connection);
  const removeUsage = prepareRemove(connection, "api_key_usage", "key_id");
  const removeKey = prepareRemove(connection, "api_keys", "id");

  const withSecrets = (row: KeyRow): KeyWithUsage => {
    const { key, usage } = toKeyWithUsage(row);
    return { key: { ...key, secrets: secrets.list(key.id) }, usage };
  };
  return {
    find: (id: string): KeyWithUsage | undefined => {
      const row = keys.get({ id });
      return row && withSecrets(row);
    },
    list: ({ limit, after = "", banned }: KeyQuery): readonly KeyWithUsage[] =>
      (banned ? listBanned : list).all({ count: limit, after }).map(withSecrets),
    insert: (key: StoredApiKey): void => {
      insert(key);
      secrets.replace(key);
    },
    /** Changes everything but the id of the key with this id. */
    update: (key: StoredApiKey): void => {
      update(key);
      secrets.replace(key);
    },
    /** Removes a key, its secrets and its usage: a host can switch cascades off. Returns whether there was one. */
    remove: (id: string): boolean => {
      if (!keys.get({ id })) return false;
      secrets.remove({ id });
      removeUsage({ id });
      removeKey({ id });
      return true;
    },
  };
}

function prepareWrites(connection: Connection) {
  const valuesOf = (value: Parameter<BareKey>) =>
    keyColumns.map((column) => [column, value.of((key) => keyValues[column](key))] as const);
  return {
    insert: connection.change((queries, value: Parameter<BareKey>) => {
      const values = valuesOf(value).map(([, each]) => each);
      return queries
        .insertInto("api_keys")
        .columns(keyColumns)
        .expression(sql`values (${sql.join(values)})`);
    }),
    update: connection.change((queries, value: Parameter<BareKey>) =>
      queries
        .updateTable("api_keys")
        .set(Object.fromEntries(valuesOf(value)))
        .where("id", "=", value("id")),
    ),
  };
}

function prepareRemove(
  connection: Connection,
  table: "api_keys" | "api_key_secrets" | "api_key_usage",
  column: "id" | "key_id",
) {
  return connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom(table).where(column, "=", value("id")),
  );
}

function selectAll(queries: Kysely<Schema>) {
  return queries
    .selectFrom("api_keys")
    .leftJoin("api_key_usage", "key_id", "id")
    .select(KEY_COLUMNS);
}

function prepareSecrets(connection: Connection) {
  const insert = connection.change(
    (queries, value: Parameter<ApiKeySecret & { keyId: string; position: number }>) =>
      queries.insertInto("api_key_secrets").values({
        digest: value("digest"),
        key_id: value("keyId"),
        position: value("position"),
        hint: value("hint"),
        expires_at: value.of(({ expiresAt }) => expiresAt ?? null),
      }),
  );
  const remove = prepareRemove(connection, "api_key_secrets", "key_id");
  const list = connection.select(SECRET_COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    queries
      .selectFrom("api_key_secrets")
      .select(SECRET_COLUMNS)
      .where("key_id", "=", value("id"))
      .orderBy("position"),
  );
  return {
    /** The secrets of a key, newest first. */
    list: (id: string): readonly ApiKeySecret[] => list.all({ id }).map(toSecret),
    replace: ({ id, secrets }: StoredApiKey): void => {
      remove({ id });
      secrets.forEach((secret, position) => insert({ ...secret, keyId: id, position }));
    },
    remove,
  };
}
