import type { StoredApiKey, Usage } from "@petstore/core";
import { sql, type Kysely, type Selectable } from "kysely";
import type { Connection } from "../connection.js";
import type { ApiKeysTable, Schema } from "../schema.js";
import type { Place, Tuple } from "../statement.js";
import { toUsage, USAGE_COLUMNS, type UsageRow } from "./api-key-usage.js";

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
  find(id: string): BareKeyWithUsage | undefined;
  /** Up to `count` keys with an id above `after`, in ascending order of id. */
  list(count: number, after: string): readonly BareKeyWithUsage[];
  /** The same among the keys whose usage remembers a ban. */
  listBanned(count: number, after: string): readonly BareKeyWithUsage[];
}

type Row = Selectable<ApiKeysTable>;

const COLUMNS = [
  "id",
  "plan",
  "per_minute",
  "per_day",
  "label",
  "created_at",
  "expires_at",
  "revoked_at",
] as const;

const WITH_USAGE = [...COLUMNS, ...USAGE_COLUMNS] as const;

export function prepareApiKeys(connection: Connection): ApiKeys {
  const insert = prepareInsert(connection);
  const update = prepareUpdate(connection);
  const find = prepareFind(connection);
  const list = prepareList(connection);
  const listBanned = prepareListBanned(connection);
  return {
    insert: (key) => {
      insert.run(toRow(key));
    },
    update: (key) => {
      update.run(toRow(key));
    },
    find: (id) => {
      const row = find.get({ id });
      return row && toKeyWithUsage(row);
    },
    list: (count, after) => list.all({ count, after }).map(toKeyWithUsage),
    listBanned: (count, after) => listBanned.all({ count, after }).map(toKeyWithUsage),
  };
}

function prepareInsert(connection: Connection) {
  return connection.prepare((queries, value: Place<Row>) =>
    queries.insertInto("api_keys").values({ id: value("id"), ...places(value) }),
  );
}

function prepareUpdate(connection: Connection) {
  return connection.prepare((queries, value: Place<Row>) =>
    queries.updateTable("api_keys").set(places(value)).where("id", "=", value("id")),
  );
}

function prepareFind(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<Pick<Row, "id">>) =>
      keysWithUsage(queries).where("id", "=", value("id")),
    WITH_USAGE,
  );
}

function prepareList(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ after: string; count: number }>) =>
      keysWithUsage(queries).where("id", ">", value("after")).orderBy("id").limit(value("count")),
    WITH_USAGE,
  );
}

function prepareListBanned(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ after: string; count: number }>) =>
      queries
        .selectFrom("api_key_usage")
        .innerJoin("api_keys", "id", "key_id")
        .select(WITH_USAGE)
        // A literal, so that SQLite sees that the index of banned keys serves.
        .where("bans", ">", sql.lit(0))
        .where("key_id", ">", value("after"))
        .orderBy("key_id")
        .limit(value("count")),
    WITH_USAGE,
  );
}

function keysWithUsage(queries: Kysely<Schema>) {
  return queries
    .selectFrom("api_keys")
    .leftJoin("api_key_usage", "key_id", "id")
    .select(WITH_USAGE);
}

function places(value: Place<Row>) {
  return {
    plan: value("plan"),
    per_minute: value("per_minute"),
    per_day: value("per_day"),
    label: value("label"),
    created_at: value("created_at"),
    expires_at: value("expires_at"),
    revoked_at: value("revoked_at"),
  };
}

function toRow(key: BareKey): Row {
  return {
    id: key.id,
    plan: key.plan,
    per_minute: key.limits.perMinute,
    per_day: key.limits.perDay,
    label: key.label ?? null,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    revoked_at: key.revokedAt ?? null,
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
]: Tuple<Row & UsageRow, typeof WITH_USAGE>): BareKeyWithUsage {
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
