import type { ApiKeySecret, KeyQuery, KeyWithUsage, StoredApiKey } from "@petstore/core/storage";
import type { KeyStorage } from "@petstore/core/storage";
import { KEY_COLUMNS, keyValues, SECRET_COLUMNS } from "@petstore/storage-sql";
import { toKeyWithUsage, toSecret, WRITTEN_KEY_COLUMNS } from "@petstore/storage-sql";
import type { BareKey, KeyRow, KeysAfter, Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";
import type { ApiKeyUsage, RememberedUsage } from "./api-key-usage.js";
import type { Groups } from "./groups.js";

/** A key and its secrets are read in one snapshot. */
export function createSqliteKeyStorage(
  connection: Connection,
  usages: Pick<ApiKeyUsage, "save">,
  { forget }: Pick<RememberedUsage, "forget">,
  { reads, writes }: Groups,
): KeyStorage {
  const keys = prepareApiKeys(connection);
  const change = <T>(name: string, work: () => T) =>
    writes.add(name, () => {
      forget();
      return work();
    });
  return {
    insert: (key) => change("Adding an API key", () => keys.insert(key)),
    import: (moved) =>
      change("Adding API keys", () => {
        const added = moved.filter(({ key }) => keys.find(key.id) === undefined);
        for (const { key, usage } of added) {
          keys.insert(key);
          usages.save(key.id, usage);
        }
        return added.length;
      }),
    find: (id) => reads.add("Finding an API key", () => keys.find(id)),
    list: (query) => reads.add("Listing API keys", () => keys.list(query)),
    update: (id, decide) =>
      change("Changing an API key", () => {
        const key = keys.find(id)?.key;
        const { next, result } = decide(key);
        if (key && next && next !== key) keys.update({ ...next, id });
        return result;
      }),
    remove: (ids) => change("Removing API keys", () => ids.filter((id) => keys.remove(id)).length),
  };
}

function prepareApiKeys(connection: Connection) {
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
  const withItsSecrets = (store: (key: StoredApiKey) => void) => (key: StoredApiKey) => {
    store(key);
    secrets.replace(key);
  };
  return {
    find: (id: string) => keys.find({ id }, withSecrets),
    list: ({ limit, after = "", banned }: KeyQuery): readonly KeyWithUsage[] =>
      (banned ? listBanned : list).all({ count: limit, after }).map(withSecrets),
    insert: withItsSecrets(insert),
    update: withItsSecrets(update),
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
    WRITTEN_KEY_COLUMNS.map(
      (column) => [column, value.of((key) => keyValues[column](key))] as const,
    );
  return {
    insert: connection.change((queries, value: Parameter<BareKey>) => {
      const values = valuesOf(value).map(([, each]) => each);
      return queries
        .insertInto("api_keys")
        .columns(WRITTEN_KEY_COLUMNS)
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

function selectAll(queries: Connection["queries"]) {
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
    list: (id: string): readonly ApiKeySecret[] => list.all({ id }).map(toSecret),
    replace: ({ id, secrets }: StoredApiKey): void => {
      remove({ id });
      secrets.forEach((secret, position) => insert({ ...secret, keyId: id, position }));
    },
    remove,
  };
}
