import type { PresentedKey, Usage } from "@petstore/core/storage";
import { PRESENTED_KEY_COLUMNS, LIMIT_COLUMNS, toPresentedKey } from "@petstore/storage-sql";
import { toUsage, USAGE_COLUMNS, usageFields, type Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";

export type ApiKeyUsage = ReturnType<typeof prepareApiKeyUsage>;

export function prepareApiKeyUsage({ change, select }: Connection) {
  const presentedKey = select(
    PRESENTED_KEY_COLUMNS,
    (queries, value: Parameter<{ digest: string }>) =>
      queries
        .selectFrom("api_key_secrets as secret")
        .innerJoin("api_keys as key", "key.id", "secret.key_id")
        .leftJoin("api_key_usage as usage", "usage.key_id", "key.id")
        .select(["secret.expires_at as secret_expires_at", "key.id", "key.plan", "key.label"])
        .select(["key.created_at", "key.expires_at", "key.revoked_at"])
        .select([...LIMIT_COLUMNS, ...USAGE_COLUMNS])
        .where("secret.digest", "=", value("digest")),
  );
  const usageOf = select(USAGE_COLUMNS, (queries, value: Parameter<{ id: string }>) =>
    queries
      .selectFrom("api_keys")
      .leftJoin("api_key_usage", "key_id", "id")
      .select(USAGE_COLUMNS)
      .where("id", "=", value("id")),
  );
  const save = change((queries, value: Parameter<{ keyId: string; usage: Usage }>) => {
    const values = usageFields.map((field) => value.of(({ usage }) => usage[field]));
    const changes = USAGE_COLUMNS.map((column) => [column, sql.ref(`excluded.${column}`)] as const);
    return queries
      .insertInto("api_key_usage")
      .columns(["key_id", ...USAGE_COLUMNS])
      .expression(sql`values (${sql.join([value("keyId"), ...values])})`)
      .onConflict((conflict) => conflict.column("key_id").doUpdateSet(Object.fromEntries(changes)));
  });
  return {
    findByDigest: (digest: string) => presentedKey.find({ digest }, toPresentedKey),
    find: (id: string) => usageOf.find({ id }, toUsage),
    save: (keyId: string, usage: Usage): void => save({ keyId, usage }),
  };
}

export type RememberedUsage = ReturnType<typeof rememberUsage>;

/** A transaction charges up to 1,000 keys more. */
const MOST_REMEMBERED = 9_000;

/**
 * Creates what all charges share: what they have read and saved of keys, until something else may have changed it.
 * Without it, a list or get over HTTP takes 1.1 times the processor time (32 connections, 100 keys).
 */
export function rememberUsage(connection: Pick<Connection, "version">, table: ApiKeyUsage) {
  const keys = new Map<string, PresentedKey>();
  /** What was saved since, by the id of the key, because a key may have several secrets. */
  const usages = new Map<string, Usage>();
  /** What this transaction has saved. A new map each time: the collector keeps what a cleared one held longer. */
  let changed = new Map<string, Usage>();
  let seen: number | undefined;
  const forget = (): void => {
    keys.clear();
    usages.clear();
  };
  return {
    /** To be called in each transaction of charges, before the others. */
    begin: (): void => {
      const current = connection.version();
      if (current === undefined || current !== seen || keys.size > MOST_REMEMBERED) forget();
      seen = current;
      changed = new Map();
    },
    /** To be called in each transaction of charges, after the others: writes each changed usage once. */
    flush: (): void => changed.forEach((usage, keyId) => table.save(keyId, usage)),
    /** To be called when this process has changed keys, or has rolled a charge back. */
    forget,
    findByDigest: (digest: string): PresentedKey | undefined => {
      const presented = keys.get(digest) ?? table.findByDigest(digest);
      if (presented === undefined) return undefined;
      keys.set(digest, presented);
      const { key, secretExpiresAt, usage } = presented;
      return { key, secretExpiresAt, usage: usages.get(key.id) ?? usage };
    },
    find: (keyId: string): Usage | undefined => usages.get(keyId) ?? table.find(keyId),
    save: (keyId: string, usage: Usage): void => {
      usages.set(keyId, usage);
      changed.set(keyId, usage);
    },
  };
}
