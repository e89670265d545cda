import type { KeyHolder, Usage } from "@petstore/core";
import {
  HOLDER_COLUMNS,
  HOLDER_SELECTION,
  joinHolders,
  toHolder,
  toUsage,
  USAGE_COLUMNS,
  usageFields,
  type Parameter,
} from "@petstore/storage-sql";
import { sql } from "kysely";
import { remember } from "../commit/remember.js";
import type { Connection } from "../database/connection.js";

/** The statements on the table of usage, joined with the tables of keys and secrets. */
export interface ApiKeyUsage {
  /** The key that has the secret with this digest, and its usage. */
  findHolder(digest: string): KeyHolder | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
}

/** Prepares the statements on the table of usage. What `findHolder` reads is remembered until the database changes. */
export function prepareApiKeyUsage(connection: Connection): ApiKeyUsage {
  const findHolder = prepareFindHolder(connection);
  const find = prepareFind(connection);
  const save = prepareSave(connection);
  const remembered = remember(connection, () => ({
    keys: new Map<string, Omit<KeyHolder, "usage">>(),
    /** By the id of the key, because a key may have several secrets. */
    usages: new Map<string, Usage>(),
  }));
  return {
    findHolder: (digest) => {
      const { keys, usages } = remembered();
      const known = keys.get(digest);
      const usage = known && usages.get(known.key.id);
      if (usage) return { key: known.key, secretExpiresAt: known.secretExpiresAt, usage };
      const row = findHolder.get({ digest });
      const holder = row && toHolder(row);
      if (holder) {
        keep(keys, digest, holder);
        keep(usages, holder.key.id, holder.usage);
      }
      return holder;
    },
    find: (id) => {
      const row = find.get({ id });
      return row && toUsage(row);
    },
    save: (keyId, usage) => {
      save({ keyId, usage });
      // A copy: the caller may go on to change its own. In Node 20, a spread takes several times as long.
      keep(remembered().usages, keyId, Object.assign({}, usage));
    },
  };
}

const MOST_REMEMBERED = 10_000;

function keep<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  if (memory.size >= MOST_REMEMBERED) memory.clear();
  memory.set(key, value);
}

function prepareFindHolder(connection: Connection) {
  return connection.select(HOLDER_COLUMNS, (queries, value: Parameter<{ digest: string }>) =>
    joinHolders(queries).select(HOLDER_SELECTION).where("secret.digest", "=", value("digest")),
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
