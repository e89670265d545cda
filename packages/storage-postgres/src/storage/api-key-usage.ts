import type { Usage } from "@petstore/core/storage";
import { systemRandom } from "@petstore/core/internal";
import { PRESENTED_KEY_COLUMNS, toPresentedKey, toUsage } from "@petstore/storage-sql";
import { USAGE_COLUMNS, usageFields } from "@petstore/storage-sql";
import type { ApiKeysTable, ApiKeyUsageTable, Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import { prepareWrite, type Synchronous } from "../commit/write.js";
import { columnsOf, type Connection } from "../database/connection.js";

/**
 * Returns a new version of a key or stamp of a usage: a random int8, so that a change is stored only where nothing has
 * changed since the row was read. A change of a key also renews the stamp of its usage.
 */
export const randomStamp = (): string => Buffer.from(systemRandom(8)).readBigInt64BE().toString();

/** A presented key as it was read, with the stamp that a charge must still find, and when, by the database's clock. */
export type StampedKey = Awaited<ReturnType<ApiKeyUsage["findByDigests"]>>[number];

/** Usage as it was read, with the stamp that a change must still find. */
export type StampedUsage = Awaited<ReturnType<ApiKeyUsage["find"]>>[number];

/** The usage to save, for keys that differ. */
interface UsageChanges {
  readonly keyIds: readonly string[];
  readonly expected: readonly string[];
  readonly usages: readonly Usage[];
  readonly stamp: string;
}

/** A stamp is an int8, which a number cannot hold. */
interface StampedRow extends ApiKeyUsageTable {
  readonly stamp_text: string;
}

interface PresentedRow extends ApiKeysTable, StampedRow {
  readonly digest: string;
  readonly secret_expires_at: number | null;
  readonly read_at: number;
}

export type ApiKeyUsage = ReturnType<typeof prepareApiKeyUsage>;

export function prepareApiKeyUsage(connection: Connection, synchronous: Synchronous) {
  const { select, table } = connection;
  const findByDigests = select(
    ["digest", "stamp_text", "read_at", ...PRESENTED_KEY_COLUMNS],
    (value: Parameter<{ digests: readonly string[] }>) => sql<PresentedRow>`
      select key.*, usage.*, usage.stamp::text as stamp_text, secret.digest, secret.expires_at as secret_expires_at,
        (extract(epoch from clock_timestamp()) * 1000)::bigint as read_at
      from ${table("api_key_secrets")} as secret join ${table("api_keys")} as key on key.id = secret.key_id
      left join ${table("api_key_usage")} as usage on usage.key_id = key.id
      where secret.digest = any(${value("digests")}::text[])`,
  );
  const find = select(
    ["key_id", "stamp_text", ...USAGE_COLUMNS],
    (value: Parameter<{ keyIds: readonly string[] }>) => sql<StampedRow>`
      select *, stamp::text as stamp_text from ${table("api_key_usage")}
      where key_id = any(${value("keyIds")}::text[])`,
  );
  return {
    findByDigests: async (digests: readonly string[]) =>
      (await findByDigests({ digests })).map(([digest, stamp, readAt, ...presented]) => ({
        digest,
        stamp,
        readAt,
        presented: toPresentedKey(presented),
      })),
    find: async (keyIds: readonly string[]) =>
      (await find({ keyIds })).map(([keyId, stamp, ...usage]) => ({
        keyId,
        stamp,
        usage: toUsage(usage),
      })),
    /** Saves the usage of keys where it is still as expected; records the positions of those. */
    save: prepareSave(connection, synchronous),
  };
}

/**
 * Skips a row that another transaction holds: that one will change the stamp. So this statement never
 * waits, and two of them cannot block each other. The stamp is compared in the row that is updated, for
 * PostgreSQL reads only that row again when it has changed meanwhile.
 */
function prepareSave(connection: Connection, synchronous: Synchronous) {
  const usage = connection.table("api_key_usage");
  return prepareWrite(connection, (value: Parameter<UsageChanges>) => {
    const values = usageFields.map(
      (field) => sql`${value.of(({ usages }) => usages.map((each) => each[field]))}::bigint[]`,
    );
    const columns = columnsOf(USAGE_COLUMNS);
    const changes = sql.join(
      USAGE_COLUMNS.map((column) => sql`${sql.ref(column)} = locked.${sql.ref(column)}`),
    );
    return {
      expressions: sql`
        wanted as (
          select * from unnest(${value("keyIds")}::text[], ${value("expected")}::bigint[], ${sql.join(values)})
            with ordinality as input (key_id, expected, ${columns}, position)),
        saved as (
          update ${usage} as usage set stamp = ${value("stamp")}, ${changes}
          from (
            select wanted.* from wanted join ${usage} as usage using (key_id)
            where usage.stamp = wanted.expected and exists (select from writer)
            order by key_id for no key update of usage skip locked) as locked
          where usage.key_id = locked.key_id and usage.stamp = locked.expected
          returning locked.position)`,
      written: sql`select array_agg(position) from saved`,
      synchronous,
    };
  });
}
