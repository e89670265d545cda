import type { KeyHolder, Usage } from "@petstore/core";
import type { Selectable } from "kysely";
import type { Connection } from "../connection.js";
import type { ApiKeysTable, ApiKeyUsageTable, UsageColumns } from "../schema.js";
import type { Place, Tuple } from "../statement.js";

/** The statements on the table of usage, and on the keys and secrets that it is found by. */
export interface ApiKeyUsage {
  /** Who has the secret with this digest. */
  holder(digest: string): KeyHolder | undefined;
  /** The usage of the key with this id; `undefined` when there is no such key. */
  find(keyId: string): Usage | undefined;
  save(keyId: string, usage: Usage): void;
}

type Row = Selectable<ApiKeyUsageTable>;

/** The columns of a usage, in a query that joins its table. */
export const USAGE_COLUMNS = [
  "minute_opened_at",
  "minute_used",
  "day_opened_at",
  "day_used",
  "refusals",
  "bans",
  "banned_at",
  "last_used_at",
] as const;

/** The columns of a usage in a left join: all of them null when nothing was stored yet. */
export type UsageRow = { readonly [Column in keyof UsageColumns]: number | null };

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

type HolderRow = UsageRow &
  Selectable<ApiKeysTable> & { readonly secret_expires_at: number | null };

export function prepareApiKeyUsage(connection: Connection): ApiKeyUsage {
  const holder = prepareHolder(connection);
  const find = prepareFind(connection);
  const save = prepareSave(connection);
  return {
    holder: (digest) => {
      const row = holder.get({ digest });
      return row && toHolder(row);
    },
    find: (id) => {
      const row = find.get({ id });
      return row && toUsage(row);
    },
    save: (keyId, usage) => {
      save.run(toRow(keyId, usage));
    },
  };
}

function prepareHolder(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ digest: string }>) =>
      queries
        .selectFrom("api_key_secrets as secret")
        .innerJoin("api_keys as key", "key.id", "secret.key_id")
        .leftJoin("api_key_usage as usage", "usage.key_id", "key.id")
        .select(["key.id", "key.plan", "key.per_minute", "key.per_day"])
        .select(["key.expires_at", "key.revoked_at", "secret.expires_at as secret_expires_at"])
        .select(USAGE_COLUMNS)
        .where("secret.digest", "=", value("digest")),
    HOLDER_COLUMNS,
  );
}

function prepareFind(connection: Connection) {
  return connection.prepareTuples(
    (queries, value: Place<{ id: string }>) =>
      queries
        .selectFrom("api_keys")
        .leftJoin("api_key_usage", "key_id", "id")
        .select(USAGE_COLUMNS)
        .where("id", "=", value("id")),
    USAGE_COLUMNS,
  );
}

function prepareSave(connection: Connection) {
  return connection.prepare((queries, value: Place<Row>) =>
    queries
      .insertInto("api_key_usage")
      .values({
        key_id: value("key_id"),
        minute_opened_at: value("minute_opened_at"),
        minute_used: value("minute_used"),
        day_opened_at: value("day_opened_at"),
        day_used: value("day_used"),
        refusals: value("refusals"),
        bans: value("bans"),
        banned_at: value("banned_at"),
        last_used_at: value("last_used_at"),
      })
      .onConflict((conflict) =>
        conflict.column("key_id").doUpdateSet((row) => ({
          minute_opened_at: row.ref("excluded.minute_opened_at"),
          minute_used: row.ref("excluded.minute_used"),
          day_opened_at: row.ref("excluded.day_opened_at"),
          day_used: row.ref("excluded.day_used"),
          refusals: row.ref("excluded.refusals"),
          bans: row.ref("excluded.bans"),
          banned_at: row.ref("excluded.banned_at"),
          last_used_at: row.ref("excluded.last_used_at"),
        })),
      ),
  );
}

function toRow(keyId: string, usage: Usage): Row {
  return {
    key_id: keyId,
    minute_opened_at: usage.minuteOpenedAt,
    minute_used: usage.minuteUsed,
    day_opened_at: usage.dayOpenedAt,
    day_used: usage.dayUsed,
    refusals: usage.refusals,
    bans: usage.bans,
    banned_at: usage.bannedAt,
    last_used_at: usage.lastUsedAt,
  };
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

/** What was never stored is 0, which makes a `NO_USAGE`. */
export function toUsage([
  minuteOpenedAt,
  minuteUsed,
  dayOpenedAt,
  dayUsed,
  refusals,
  bans,
  bannedAt,
  lastUsedAt,
]: Tuple<UsageRow, typeof USAGE_COLUMNS>): Usage {
  return {
    minuteOpenedAt: minuteOpenedAt ?? 0,
    minuteUsed: minuteUsed ?? 0,
    dayOpenedAt: dayOpenedAt ?? 0,
    dayUsed: dayUsed ?? 0,
    refusals: refusals ?? 0,
    bans: bans ?? 0,
    bannedAt: bannedAt ?? 0,
    lastUsedAt: lastUsedAt ?? 0,
  };
}
