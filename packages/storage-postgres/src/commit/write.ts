import type { Parameter } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import type { Connection, Prepared } from "../database/connection.js";

/** A prepared statement that writes. It returns what it has written, and whether the server syncs its disk. */
export type Write<Argument> = Prepared<
  Numbered & { readonly argument: Argument },
  readonly [written: Recorded, isDurable: boolean]
>;

/** What a statement has written, for its caller; empty if it stored nothing. */
export type Recorded = readonly (bigint | null)[];

/** The id of a writer, the number of its last statement that was committed, and the number of a statement. */
export interface Numbered {
  readonly id: string;
  readonly before: number;
  readonly seq: number;
}

/** How a statement commits: `on` survives a crash of the server, `off` the end of this process. */
export type Synchronous = "on" | "off";

export interface WriteParts {
  /** Common table expressions. They must do nothing if the table `writer` is empty; else it has one row. */
  readonly expressions: RawBuilder<unknown>;
  /** An array of bigint: what is `Recorded`. */
  readonly written: RawBuilder<unknown>;
  /** `on` by default. */
  readonly synchronous?: Synchronous;
}

/**
 * A condition that holds, and limits each wait for a lock in the rest of its statement to 0.9 seconds; no session setting
 * changes. A statement that is given up would wait on the server for as long as another transaction stays open. A row may
 * need two locks, and both waits fit in the 2 seconds that a statement has at least.
 */
export const withLockTimeout = sql`set_config('lock_timeout', '900', true) <> ''`;

/** Prepares a statement that writes only if it finds the number of the one before in the writer's row (see `Writer`). */
export function prepareWrite<Argument>(
  { prepare, table }: Connection,
  build: (value: Parameter<Argument>) => WriteParts,
): Write<Argument> {
  return prepare(
    ["written", "is_durable"],
    (value: Parameter<Numbered & { argument: Argument }>, columns: RawBuilder<unknown>) => {
      const of = <T>(read: (argument: Argument) => T) => value.of(({ argument }) => read(argument));
      const named = <Name extends keyof Argument & string>(name: Name) => of((all) => all[name]);
      const { expressions, written, synchronous = "on" } = build(Object.assign(named, { of }));
      const writers = table("writers");
      const before = sql`id = ${value("id")} and seq = ${value("before")}`;
      return sql<{ written: Recorded; is_durable: boolean }>`
      with writer as (select id from ${writers} where ${before} and ${withLockTimeout} for no key update),
        ${expressions}
      update ${writers}
      set seq = ${value("seq")}, written = coalesce((${written}), '{}'), seen_at = clock_timestamp()
      from (select ${IS_DURABLE} as is_durable) as server where ${before}
      returning ${columns}, ${LEVELS[synchronous]}`;
    },
  );
}

/**
 * Sets the level of this statement's own commit. A session may have a weaker one, which its role, a pooler's other client
 * or an operator has set; a stronger one stays.
 */
export const LEVELS: Readonly<Record<Synchronous, RawBuilder<string>>> = {
  on: sql`case when current_setting('synchronous_commit') = 'remote_apply' then 'remote_apply'
    else set_config('synchronous_commit', 'on', true) end`,
  off: sql`set_config('synchronous_commit', 'off', true)`,
};

/** The settings of the server without which it may lose what it has committed. */
const IS_DURABLE = sql<boolean>`current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on'`;
