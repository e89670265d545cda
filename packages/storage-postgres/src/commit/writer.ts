import { setTimeout } from "node:timers/promises";
import { systemRandom, type StorageWarning } from "@petstore/core";
import { backoffBefore, monotonicNow, type Parameter } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import type { Connection, Select } from "../database/connection.js";
import {
  isBusy,
  isConnectionLost,
  NotWritten,
  OutcomeUnknown,
} from "../database/postgres-error.js";

/**
 * Runs statements that write, each exactly once. When the connection is lost, the statement may have been
 * committed, may have failed, or may still be running. Each statement therefore has a number: it sets this
 * number in the writer's own row of `writers`, and does nothing unless it finds the number before it there.
 * After a lost connection, the writer sets the number itself. The row then shows whether the statement was
 * committed, and the statement can no longer be committed later.
 */
export interface Writer {
  /**
   * Runs a statement, and resolves to what it recorded. The earlier one must have ended.
   * @throws NotWritten when it certainly stored nothing; OutcomeUnknown; PostgreSQL's errors
   */
  write<Argument>(
    statement: Write<Argument>,
    argument: Argument,
  ): Promise<readonly (bigint | null)[]>;
  /** Removes the writer's row. */
  close(): Promise<void>;
}

/** A prepared statement that writes. */
export type Write<Argument> = Select<Numbered<Argument>, Recorded>;

type Recorded = readonly [written: readonly (bigint | null)[], synchronous: string];

/** The argument of a statement, with the writer's id and the number of the statement. */
interface Numbered<Argument> {
  readonly argument: Argument;
  readonly writer: string;
  readonly seq: number;
}

/** How long a writer tries to find out whether a statement was committed, in milliseconds. */
const LOOK_UP_TIMEOUT = 3_000;

/** When the database forgets a writer that is gone without having closed. */
const FORGOTTEN_AFTER = "7 days";

/** How a statement commits: `on` survives a crash of the server, `off` the end of this process. */
export type Synchronous = "on" | "off";

/** The parts of a statement that writes. */
export interface WriteParts {
  /** Common table expressions. They do nothing if `writer`, a table of one row or none, is empty. */
  readonly steps: RawBuilder<unknown>;
  /** An array of bigint: what the statement has written, for its caller. */
  readonly written: RawBuilder<unknown>;
  readonly synchronous: Synchronous;
}

/** Prepares a statement that writes, for a `Writer`. */
export function prepareWrite<Argument>(
  { select, table }: Connection,
  build: (value: Parameter<Argument>) => WriteParts,
): Write<Argument> {
  return select(["written", "synchronous"], (_queries, value: Parameter<Numbered<Argument>>) => {
    const of = <T>(read: (argument: Argument) => T) => value.of(({ argument }) => read(argument));
    const named = <Name extends keyof Argument & string>(name: Name) => of((all) => all[name]);
    const { steps, written, synchronous } = build(Object.assign(named, { of }));
    const writers = table("writers");
    const before = sql`id = ${value("writer")} and seq = ${value("seq")}::bigint - 1`;
    // The level applies to this statement's own commit. A server that has a stronger one keeps it.
    const level =
      synchronous === "off"
        ? sql`set_config('synchronous_commit', 'off', true)`
        : sql`current_setting('synchronous_commit')`;
    return sql<{ written: (bigint | null)[]; synchronous: string }>`
      with writer as (select id from ${writers} where ${before} for no key update), ${steps}
      update ${writers}
      set seq = ${value("seq")}, written = coalesce((${written}), '{}'), seen_at = clock_timestamp()
      where ${before}
      returning written, ${level}`;
  });
}

/** @param onWarning learns that the database has lost commits. */
export function createWriter(
  connection: Connection,
  onWarning: (warning: StorageWarning) => void,
): Writer {
  const rows = prepareRows(connection);
  let current: { readonly id: string; seq: number } | undefined;

  const register = async () => {
    const id = Buffer.from(systemRandom(16)).toString("hex");
    await rows.insert({ id });
    await rows.sweep(undefined);
    return { id, seq: 0 };
  };

  const write = async <Argument>(statement: Write<Argument>, argument: Argument) => {
    current ??= await register();
    const { id } = current;
    const seq = current.seq + 1;
    try {
      const [recorded] = await statement({ argument, writer: id, seq });
      if (recorded === undefined) return await replaced(id, current.seq);
      current.seq = seq;
      return recorded[0];
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      current = undefined;
      const recorded = await lookUp(rows, id, seq);
      current = { id, seq };
      if (recorded.length > 0) return recorded;
      throw new NotWritten("the connection was lost before the statement was committed");
    }
  };

  /** The row is not as the last statement left it: an operator removed it, or the server lost commits. */
  const replaced = async (id: string, seq: number): Promise<never> => {
    current = undefined;
    const [row] = await rows.find({ id });
    if (seq > 0 && (row?.[0] ?? 0) < seq) onWarning(COMMITS_LOST);
    throw new NotWritten("the database has lost this server's last commits");
  };

  return {
    write,
    close: async () => {
      if (current) await rows.remove(current);
    },
  };
}

/** Returns what the statement with this number recorded: nothing, if it was not committed and never will be. */
async function lookUp(
  rows: ReturnType<typeof prepareRows>,
  id: string,
  seq: number,
): Promise<readonly (bigint | null)[]> {
  const deadline = monotonicNow() + LOOK_UP_TIMEOUT;
  for (let retry = 1; ; retry += 1) {
    try {
      await rows.fence({ id, seq });
      const [row] = await rows.find({ id });
      return row?.[0] === seq ? row[1] : [];
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (monotonicNow() > deadline) {
        throw new OutcomeUnknown("the connection was lost, and it may have been stored");
      }
    }
    await setTimeout(backoffBefore(retry));
  }
}

const COMMITS_LOST: StorageWarning = {
  code: "commits_lost",
  message:
    "The database has lost commits that it had acknowledged: it crashed, failed over to a standby, or was restored.",
};

/** Prepares the statements on the rows of writers. */
function prepareRows({ select, table }: Connection) {
  const writers = table("writers");
  return {
    find: select(
      ["seq", "written"],
      (_queries, value: Parameter<{ id: string }>) =>
        sql<{ seq: number; written: readonly (bigint | null)[] }>`
        select seq, written from ${writers} where id = ${value("id")}`,
    ),
    insert: select(
      [],
      (_queries, value: Parameter<{ id: string }>) =>
        sql`insert into ${writers} (id, seq, written, seen_at)
        values (${value("id")}, 0, '{}', clock_timestamp())`,
    ),
    /** Makes sure that the statement with this number is not committed later. */
    fence: select(
      [],
      (_queries, value: Parameter<{ id: string; seq: number }>) =>
        sql`update ${writers} set seq = ${value("seq")}, written = '{}', seen_at = clock_timestamp()
        where id = ${value("id")} and seq < ${value("seq")}`,
    ),
    remove: select(
      [],
      (_queries, value: Parameter<{ id: string }>) =>
        sql`delete from ${writers} where id = ${value("id")}`,
    ),
    sweep: select(
      [],
      () =>
        sql`delete from ${writers} where seen_at < now() - ${sql.lit(FORGOTTEN_AFTER)}::interval`,
    ),
  };
}
