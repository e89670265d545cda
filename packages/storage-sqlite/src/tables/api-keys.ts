import type { ApiKeySecret, KeyQuery, KeyWithUsage, StoredApiKey } from "@petstore/core/storage";
import {
  KEY_COLUMNS,
  keyColumns,
  keyValues,
  toKeyWithUsage,
  type ApiKeySecretsTable,
  type BareKey,
  type KeyRow,
  type KeysAfter,
  type Parameter,
  type Tuple,
} from "@petstore/storage-sql";
import { sql, type Kysely } from "kysely";
import type { Connection } from "../database/connection.js";
import type { Schema } from "./schema.js";

export interface ApiKeys {
  find(id: string): KeyWithUsage | undefined;
  list(query: KeyQuery): readonly KeyWithUsage[];
  insert(key: StoredApiKey): void;
  /** Changes everything but the id of the key with this id. */
  update(key: StoredApiKey): void;
  /** Removes the key with this id, its secrets and its usage. Returns whether there was one. */
  remove(id: string): boolean;
}

export function prepareApiKeys(connection: Connection): ApiKeys {
  const find = connection.select(KEY_COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    selectAll(queries).where("id", "=", value("id")),
  );
  const list = connection.select(KEY_COLUMNS, (queries, value: Parameter<KeysAfter>) =>
    selectAll(queries).where("id", ">", value("after")).orderBy("id").limit(value("count")),
  );
  const listBanned = prepareListBanned(connection);
  const insert = prepareInsert(connection);
  const update = prepareUpdate(connection);
  const remove = prepareRemove(connection);
  const secrets = prepareSecrets(connection);

  const withSecrets = (row: KeyRow): KeyWithUsage => {
    const { key, usage } = toKeyWithUsage(row);
    return { key: { ...key, secrets: secrets.list(key.id) }, usage };
  };
  return {
    find: (id) => {
      const row = find.get({ id });
      return row && withSecrets(row);
    },
    list: ({ limit, after = "", banned }) =>
      (banned ? listBanned : list).all({ count: limit, after }).map(withSecrets),
    insert: (key) => {
      insert(key);
      secrets.replace(key);
    },
    update: (key) => {
      update(key);
      secrets.replace(key);
    },
    remove: (id) => {
      if (!find.get({ id })) return false;
      remove({ id });
      return true;
    },
  };
}

function prepareInsert(connection: Connection) {
  return connection.change((queries, value: Parameter<BareKey>) =>
    queries
      .insertInto("api_keys")
      .columns(keyColumns)
      .expression(
        sql`values (${sql.join(keyColumns.map((column) => value.of((key) => keyValues[column](key))))})`,
      ),
  );
}

function prepareUpdate(connection: Connection) {
  return connection.change((queries, value: Parameter<BareKey>) =>
    queries
      .updateTable("api_keys")
      .set(
        Object.fromEntries(
          keyColumns.map((column) => [column, value.of((key) => keyValues[column](key))]),
        ),
      )
      .where("id", "=", value("id")),
  );
}

/** Removes the rows of each table: a host can switch cascades off. */
function prepareRemove(connection: Connection): (argument: { readonly id: string }) => void {
  const removeSecrets = prepareRemoveSecrets(connection);
  const removeUsage = connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom("api_key_usage").where("key_id", "=", value("id")),
  );
  const removeKey = connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom("api_keys").where("id", "=", value("id")),
  );
  return (argument) => {
    removeSecrets(argument);
    removeUsage(argument);
    removeKey(argument);
  };
}

function selectAll(queries: Kysely<Schema>) {
  return queries
    .selectFrom("api_keys")
    .leftJoin("api_key_usage", "key_id", "id")
    .select(KEY_COLUMNS);
}

function prepareListBanned(connection: Connection) {
  return connection.select(KEY_COLUMNS, (queries, value: Parameter<KeysAfter>) =>
    queries
      .selectFrom("api_key_usage")
      .innerJoin("api_keys", "id", "key_id")
      .select(KEY_COLUMNS)
      // A literal, so that SQLite can use the index of banned keys.
      .where("bans", ">", sql.lit(0))
      .where("key_id", ">", value("after"))
      .orderBy("key_id")
      .limit(value("count")),
  );
}

const SECRET_COLUMNS = ["digest", "hint", "expires_at"] as const;

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
  const remove = prepareRemoveSecrets(connection);
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
  };
}

function prepareRemoveSecrets(connection: Connection) {
  return connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom("api_key_secrets").where("key_id", "=", value("id")),
  );
}

function toSecret([digest, hint, expiresAt]: Tuple<
  ApiKeySecretsTable,
  typeof SECRET_COLUMNS
>): ApiKeySecret {
  return { digest, hint, expiresAt: expiresAt ?? undefined };
}
