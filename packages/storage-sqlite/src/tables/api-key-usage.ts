import type { PresentedKey, Usage } from "@petstore/core/storage";
import {
  PRESENTED_KEY_COLUMNS,
  PRESENTED_KEY_SELECTION,
  joinPresentedKeys,
  toPresentedKey,
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
  findByDigest(digest: string): PresentedKey | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
}

/** Prepares the statements on the table of usage. What `findByDigest` reads is remembered until the database changes. */
export function prepareApiKeyUsage(connection: Connection): ApiKeyUsage {
  const findByDigest = prepareFindByDigest(connection);
  const find = prepareFind(connection);
  const save = prepareSave(connection);
  const remembered = remember(connection, () => ({
    keys: new Map<string, Omit<PresentedKey, "usage">>(),
    /** By the id of the key, because a key may have several secrets. */
    usages: new Map<string, Usage>(),
  }));
  return {
    findByDigest: (digest) => {
      const { keys, usages } = remembered();
      const known = keys.get(digest);
      const usage = known && usages.get(known.key.id);
      if (usage) return { key: known.key, secretExpiresAt: known.secretExpiresAt, usage };
      const row = findByDigest.get({ digest });
      const presented = row && toPresentedKey(row);
      if (presented) {
        keep(keys, digest, presented);
        keep(usages, presented.key.id, presented.usage);
      }
      return presented;
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

function prepareFindByDigest(connection: Connection) {
  return connection.select(PRESENTED_KEY_COLUMNS, (queries, value: Parameter<{ digest: string }>) =>
    joinPresentedKeys(queries)
      .select(PRESENTED_KEY_SELECTION)
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
