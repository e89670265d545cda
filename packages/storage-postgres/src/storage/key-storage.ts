import type { ApiKeySecret, KeyQuery, KeyWithUsage, StoredApiKey } from "@petstore/core/storage";
import { NO_USAGE, storageError, type KeyStorage } from "@petstore/core/storage";
import { isText } from "@petstore/core/internal";
import { KEY_COLUMNS, keyValues, usageFields, WRITTEN_KEY_COLUMNS } from "@petstore/storage-sql";
import { SECRET_COLUMNS, toKeyWithUsage, toSecret, USAGE_COLUMNS } from "@petstore/storage-sql";
import type { ApiKeysTable, ApiKeyUsageTable, KeysAfter, Parameter } from "@petstore/storage-sql";
import { Contention, type Tuple } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import { err, ok } from "neverthrow";
import * as v from "valibot";
import { createSerialRun, IMPORT_TIMEOUT, type Attempts } from "../commit/calls.js";
import { prepareWrite } from "../commit/write.js";
import type { Writers } from "../commit/writer.js";
import { columnsOf, type Connection } from "../database/connection.js";
import { randomStamp } from "./api-key-usage.js";

export function createPostgresKeyStorage(
  connection: Connection,
  writers: Writers,
  run: Attempts["run"],
): KeyStorage {
  const keys = prepareApiKeys(connection);
  const writer = writers.open("on");
  const inTurn = createSerialRun(run);
  const insert = (name: string, added: readonly KeyWithUsage[], timeout?: number) => {
    const argument = { added, version: randomStamp() };
    const write = async () => Number((await writer.write(keys.insert, argument, timeout))[0]);
    return inTurn(name, write, timeout);
  };
  return {
    insert: async (key) => {
      const added = await insert("Adding an API key", [{ key, usage: NO_USAGE }]);
      return added.andThen((count) =>
        count === 1 ? ok() : err(storageError("Adding an API key failed: its id is taken.")),
      );
    },
    import: (moved) => insert("Adding API keys", moved, IMPORT_TIMEOUT),
    find: (id) => run("Finding an API key", async () => (await keys.find(id))?.stored),
    // No id contains U+0000, so what sorts after "a\0b" also sorts after "a".
    list: (query) =>
      run("Listing API keys", () => keys.list({ ...query, after: query.after?.split("\0")[0] })),
    update: (id, decide) =>
      inTurn("Changing an API key", async () => {
        const found = await keys.find(id);
        // An unchanged key is written, too: its last change may not have reached a synchronous standby.
        const { next = found?.stored.key, result } = decide(found?.stored.key);
        if (!found || !next) return result;
        const change = { key: { ...next, id }, expected: found.version, version: randomStamp() };
        const changed = await writer.write(keys.update, change);
        if (changed.length === 0) throw new Contention();
        return result;
      }),
    remove: (ids) =>
      inTurn("Removing API keys", async () => {
        const removed = await writer.write(keys.remove, { ids: ids.filter(isText) });
        if (removed.length === 0) throw new Contention();
        return removed.length - 1;
      }),
  };
}

/** A key and its usage, and what numbers cannot hold: the version as text, and the secrets, newest first, as JSON. */
interface VersionedRow extends ApiKeysTable, ApiKeyUsageTable {
  readonly version_text: string;
  readonly secrets: string;
}

const COLUMNS = ["version_text", "secrets", ...KEY_COLUMNS] as const;

function prepareApiKeys(connection: Connection) {
  const { select, table } = connection;
  const prepareFind = <Argument>(which: (value: Parameter<Argument>) => RawBuilder<unknown>) =>
    select(
      COLUMNS,
      (value: Parameter<Argument>) => sql<VersionedRow>`
        select key.*, usage.*, version::text as version_text, (
          select coalesce(json_agg(json_build_array(${columnsOf(SECRET_COLUMNS)}) order by position), '[]')
          from ${table("api_key_secrets")} where key_id = id) as secrets
        from ${table("api_keys")} as key left join ${table("api_key_usage")} as usage on key_id = id
        where ${which(value)}`,
    );
  const after = (value: Parameter<KeysAfter>) =>
    sql`id > ${value("after")} order by id limit ${value("count")}`;
  const find = prepareFind((value: Parameter<{ id: string }>) => sql`id = ${value("id")}`);
  const list = prepareFind(after);
  const listBanned = prepareFind(
    (value: Parameter<KeysAfter>) => sql`bans > 0 and ${after(value)}`,
  );
  return {
    /** Finds a key, with the version that a change must still find. */
    find: async (id: string) => {
      const [row] = isText(id) ? await find({ id }) : [];
      return row && { stored: toStored(row), version: row[0] };
    },
    list: async ({ limit, after = "", banned }: KeyQuery) =>
      (await (banned ? listBanned : list)({ count: limit, after })).map(toStored),
    /** Adds the keys whose ids are not taken, with their usage; records how many. */
    insert: prepareInsert(connection),
    /** Changes a key, but not its id, and its version, if that is still the expected one; else records nothing. */
    update: prepareUpdate(connection),
    /** Removes keys; records an item, and one for each that existed. Records nothing if one of them has just changed. */
    remove: prepareRemove(connection),
  };
}

type NewKeys = { added: readonly KeyWithUsage[]; version: string };

function prepareInsert(connection: Connection) {
  const { table } = connection;
  return prepareWrite(connection, (value: Parameter<NewKeys>) => {
    const each = <T>(read: (added: KeyWithUsage) => T) => value.of(({ added }) => added.map(read));
    const keys = WRITTEN_KEY_COLUMNS.map(
      (column) => sql`${each(({ key }) => keyValues[column](key))}::${typeOf(column)}[]`,
    );
    const usages = usageFields.map((name) => sql`${each(({ usage }) => usage[name])}::bigint[]`);
    const secrets = secretsOf(value, ({ added }) => added.map(({ key }) => key));
    const columns = columnsOf(WRITTEN_KEY_COLUMNS);
    const usageColumns = columnsOf(USAGE_COLUMNS);
    return {
      expressions: sql`
        inserted as (
          insert into ${table("api_keys")} (version, ${columns})
          select ${value("version")}, key.* from writer, unnest(${sql.join(keys)}) as key
          on conflict (id) do nothing returning id),
        secrets as (
          insert into ${table("api_key_secrets")} (${newSecretColumns})
          select secret.* from inserted join ${secrets} on key_id = id),
        usage as (
          insert into ${table("api_key_usage")} (stamp, key_id, ${usageColumns})
          select ${value("version")}, usage.* from inserted join
            unnest(${each(({ key }) => key.id)}::text[], ${sql.join(usages)})
            as usage (key_id, ${usageColumns}) on key_id = id)`,
      written: sql`select array[count(*)] from inserted`,
    };
  });
}

type TextColumn = {
  [Name in keyof ApiKeysTable]: ApiKeysTable[Name] extends string | null ? Name : never;
}[keyof ApiKeysTable];

const textColumns: Readonly<Record<TextColumn, true>> = { id: true, plan: true, label: true };

const typeOf = (column: keyof ApiKeysTable) => sql.raw(column in textColumns ? "text" : "bigint");

type KeyChange = { key: StoredApiKey; expected: string; version: string };

/** Renews the stamp of the usage, so that no decision on the old key is stored. */
function prepareUpdate(connection: Connection) {
  const { table } = connection;
  const secrets = table("api_key_secrets");
  return prepareWrite(connection, (value: Parameter<KeyChange>) => {
    const changes = WRITTEN_KEY_COLUMNS.map(
      (column) => sql`${sql.ref(column)} = ${value.of(({ key }) => keyValues[column](key))}`,
    );
    const wanted = secretsOf(value, ({ key }) => [key]);
    const digests = value.of(({ key }) => key.secrets.map(({ digest }) => digest));
    return {
      expressions: sql`
        changed as (
          update ${table("api_keys")} as key set version = ${value("version")}, ${sql.join(changes)}
          from writer where key.id = ${value.of(({ key }) => key.id)} and key.version = ${value("expected")}
          returning key.id),
        renewed as (
          update ${table("api_key_usage")} as usage set stamp = ${value("version")}
          from changed where usage.key_id = changed.id),
        removed as (
          delete from ${secrets} as old using changed
          where old.key_id = changed.id and old.digest <> all(${digests}::text[])),
        kept as (
          update ${secrets} as kept
          set hint = secret.hint, expires_at = secret.expires_at, position = secret.position
          from changed, ${wanted}
          where kept.key_id = changed.id and kept.digest = secret.digest),
        added as (
          insert into ${secrets} (${newSecretColumns})
          select secret.* from changed, ${wanted}
          where not exists (
            select from ${secrets} as own where own.key_id = changed.id and own.digest = secret.digest))`,
      written: sql`select array_agg(1) from changed`,
    };
  });
}

/**
 * Locks the keys in order of id, so that two calls that remove the same keys cannot block each other. The statement sees
 * the secrets as they were when it began. So it removes nothing if one of the keys has changed before it was locked.
 */
function prepareRemove(connection: Connection) {
  const { table } = connection;
  const isUnchanged = sql`(select count(*) from locked) = (select count(*) from seen)`;
  return prepareWrite(connection, (value: Parameter<{ ids: readonly string[] }>) => ({
    expressions: sql`
      seen as materialized (
        select id, version from ${table("api_keys")}
        where id = any(${value("ids")}::text[]) and exists (select from writer)),
      locked as (
        select key.id from ${table("api_keys")} as key join seen on seen.id = key.id and seen.version = key.version
        order by key.id for update of key),
      removed as (
        delete from ${table("api_keys")} as key using locked
        where key.id = locked.id and ${isUnchanged} returning key.id),
      secrets as (
        delete from ${table("api_key_secrets")} as secret using removed where secret.key_id = removed.id),
      usage as (
        delete from ${table("api_key_usage")} as usage using removed where usage.key_id = removed.id)`,
    // 0, because a statement that recorded nothing would count as not committed.
    written: sql`select array[0::bigint] || array_agg(1::bigint) from removed having ${isUnchanged}`,
  }));
}

const newSecretColumns = columnsOf(["key_id", ...SECRET_COLUMNS, "position"]);

function secretsOf<Argument>(
  value: Parameter<Argument>,
  keysOf: (argument: Argument) => readonly StoredApiKey[],
): RawBuilder<unknown> {
  const each = <T>(read: (secret: ApiKeySecret, index: number, key: StoredApiKey) => T) =>
    value.of((argument) =>
      keysOf(argument).flatMap((key) => key.secrets.map((item, index) => read(item, index, key))),
    );
  return sql`unnest(
    ${each((_secret, _index, { id }) => id)}::text[],
    ${each(({ digest }) => digest)}::text[],
    ${each(({ hint }) => hint)}::text[],
    ${each(({ expiresAt }) => expiresAt ?? null)}::bigint[],
    ${each((_secret, index) => index)}::bigint[]
  ) as secret (${newSecretColumns})`;
}

const secretsSchema = v.array(v.tuple([v.string(), v.string(), v.nullable(v.number())]));

function toStored([, secrets, ...row]: Tuple<VersionedRow, typeof COLUMNS>): KeyWithUsage {
  const { key, usage } = toKeyWithUsage(row);
  const newestFirst = v.parse(secretsSchema, JSON.parse(secrets));
  return { key: { ...key, secrets: newestFirst.map(toSecret) }, usage };
}
