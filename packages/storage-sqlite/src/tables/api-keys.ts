import {
  KEY_COLUMNS,
  keyValues,
  selectKey,
  selectKeys,
  toKeyWithUsage,
  type BareKey,
  type BareKeyWithUsage,
  type KeysAfter,
  type Parameter,
} from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";

/** The statements on the table of API keys. */
export interface ApiKeys {
  insert(key: BareKey): void;
  /** Changes everything but the id of the key with this id. */
  update(key: BareKey): void;
  /** Removes the key with this id, whose secrets and usage are removed. */
  remove(id: string): void;
  find(id: string): BareKeyWithUsage | undefined;
  /** Up to `count` keys with an id above `after`, in ascending order of id. */
  list(count: number, after: string): readonly BareKeyWithUsage[];
  /** Like `list`, but only keys whose usage remembers a ban. */
  listBanned(count: number, after: string): readonly BareKeyWithUsage[];
}

/** Prepares the statements on the table of API keys. */
export function prepareApiKeys(connection: Connection): ApiKeys {
  const remove = prepareRemove(connection);
  const find = connection.select(KEY_COLUMNS, selectKey);
  const list = connection.select(KEY_COLUMNS, selectKeys);
  const listBanned = prepareListBanned(connection);
  return {
    insert: prepareInsert(connection),
    update: prepareUpdate(connection),
    remove: (id) => remove({ id }),
    find: (id) => {
      const row = find.get({ id });
      return row && toKeyWithUsage(row);
    },
    list: (count, after) => list.all({ count, after }).map(toKeyWithUsage),
    listBanned: (count, after) => listBanned.all({ count, after }).map(toKeyWithUsage),
  };
}

function prepareInsert(connection: Connection) {
  return connection.change((queries, value: Parameter<BareKey>) =>
    queries.insertInto("api_keys").values({ id: value("id"), ...keyValues(value) }),
  );
}

function prepareUpdate(connection: Connection) {
  return connection.change((queries, value: Parameter<BareKey>) =>
    queries.updateTable("api_keys").set(keyValues(value)).where("id", "=", value("id")),
  );
}

function prepareRemove(connection: Connection) {
  return connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom("api_keys").where("id", "=", value("id")),
  );
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
