import type { StoredApiKey, Usage } from "@petstore/core";
import { sql, type Kysely, type Selectable } from "kysely";
import type { Connection } from "../database/connection.js";
import type { Parameter, Tuple } from "../database/statement.js";
import { toUsage, USAGE_COLUMNS, type UsageRow } from "./api-key-usage.js";
import type { ApiKeysTable, Schema } from "./schema.js";

/** A key without its secrets, which have a table of their own. */
export type BareKey = Omit<StoredApiKey, "secrets">;

export interface BareKeyWithUsage {
  readonly key: BareKey;
  readonly usage: Usage;
}

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

const COLUMNS = [
  "id",
  "plan",
  "per_minute",
  "per_day",
  "label",
  "created_at",
  "expires_at",
  "revoked_at",
  ...USAGE_COLUMNS,
] as const;

type Row = Tuple<Selectable<ApiKeysTable> & UsageRow, typeof COLUMNS>;

export function prepareApiKeys(connection: Connection): ApiKeys {
  const remove = prepareRemove(connection);
  const find = prepareFind(connection);
  const list = prepareList(connection);
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
    queries.insertInto("api_keys").values({ id: value("id"), ...valuesOf(value) }),
  );
}

function prepareUpdate(connection: Connection) {
  return connection.change((queries, value: Parameter<BareKey>) =>
    queries.updateTable("api_keys").set(valuesOf(value)).where("id", "=", value("id")),
  );
}

function prepareRemove(connection: Connection) {
  return connection.change((queries, value: Parameter<{ id: string }>) =>
    queries.deleteFrom("api_keys").where("id", "=", value("id")),
  );
}

function prepareFind(connection: Connection) {
  return connection.select(COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    selectKeys(queries).where("id", "=", value("id")),
  );
}

function prepareList(connection: Connection) {
  return connection.select(COLUMNS, (queries, value: Parameter<{ after: string; count: number }>) =>
    selectKeys(queries).where("id", ">", value("after")).orderBy("id").limit(value("count")),
  );
}

function prepareListBanned(connection: Connection) {
  return connection.select(COLUMNS, (queries, value: Parameter<{ after: string; count: number }>) =>
    queries
      .selectFrom("api_key_usage")
      .innerJoin("api_keys", "id", "key_id")
      .select(COLUMNS)
      // A literal, so that SQLite can use the index of banned keys.
      .where("bans", ">", sql.lit(0))
      .where("key_id", ">", value("after"))
      .orderBy("key_id")
      .limit(value("count")),
  );
}

function selectKeys(queries: Kysely<Schema>) {
  return queries.selectFrom("api_keys").leftJoin("api_key_usage", "key_id", "id").select(COLUMNS);
}

function valuesOf(value: Parameter<BareKey>) {
  return {
    plan: value("plan"),
    per_minute: value.of(({ limits }) => limits.perMinute),
    per_day: value.of(({ limits }) => limits.perDay),
    label: value.of(({ label }) => label ?? null),
    created_at: value("createdAt"),
    expires_at: value.of(({ expiresAt }) => expiresAt ?? null),
    revoked_at: value.of(({ revokedAt }) => revokedAt ?? null),
  };
}

function toKeyWithUsage([
  id,
  plan,
  perMinute,
  perDay,
  label,
  createdAt,
  expiresAt,
  revokedAt,
  ...usage
]: Row): BareKeyWithUsage {
  return {
    key: {
      id,
      plan,
      limits: { perMinute, perDay },
      label: label ?? undefined,
      createdAt,
      expiresAt: expiresAt ?? undefined,
      revokedAt: revokedAt ?? undefined,
    },
    usage: toUsage(usage),
  };
}
