import { systemRandom, type StorageWarning } from "@petstore/core";
import { monotonicNow, retryWhileBusy, type Parameter } from "@petstore/storage-sql";
import { sql } from "kysely";
import type { Connection } from "../database/connection.js";
import { isBusy, isConnectionLost, NotWritten, OutcomeUnknown } from "../database/errors.js";
import { withLockTimeout, type Write } from "./write.js";

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

/** How long a writer tries to find out whether a statement was committed. */
const LOOK_UP = { timeout: 3_000, now: monotonicNow, isBusy };

/** When the database forgets a writer that is gone without having closed. */
const FORGOTTEN_AFTER = "7 days";

/** A writer that was idle for longer takes a new row, because the old one may be forgotten. In milliseconds: a day. */
const LONGEST_IDLE = 86_400_000;

/** A writer's row: its id, and the number of its last statement. */
interface WriterRow {
  readonly id: string;
  readonly seq: number;
}

/** @param onWarning learns that the database has lost commits, or may lose them. */
export function createWriter(
  connection: Connection,
  onWarning: (warning: StorageWarning) => void,
): Writer {
  const rows = prepareRows(connection);
  /** The row as the last statement left it; `undefined` before the first statement, and if that is not known. */
  let row: WriterRow | undefined;
  let wroteAt = -Infinity;
  let wasDurable = true;

  const reportDurability = (isDurable: boolean): void => {
    if (wasDurable && !isDurable) onWarning(NOT_DURABLE);
    wasDurable = isDurable;
  };
  return {
    write: async (statement, argument) => {
      const now = monotonicNow();
      if (now - wroteAt > LONGEST_IDLE) row = undefined;
      wroteAt = now;
      const before = (row ??= await register(rows));
      const after = { id: before.id, seq: before.seq + 1 };
      try {
        const [recorded] = await statement({ argument, writer: after.id, seq: after.seq });
        if (!recorded) {
          row = undefined;
          return await refuseReplaced(rows, before, onWarning);
        }
        row = after;
        reportDurability(recorded[2]);
        return recorded[0];
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        row = undefined;
        const recorded = await lookUp(rows, after);
        row = after;
        if (recorded.length > 0) return recorded;
        throw new NotWritten("the connection was lost before the statement was committed");
      }
    },
    close: async () => {
      if (row) await rows.remove(row);
    },
  };
}

/** Inserts a row for a new writer. Removes those of writers that are gone. */
async function register(rows: WriterRows): Promise<WriterRow> {
  const id = Buffer.from(systemRandom(16)).toString("hex");
  await rows.insert({ id });
  await rows.sweep(undefined);
  return { id, seq: 0 };
}

/** Returns what the statement with this number recorded: nothing, if it was not committed and never will be. */
async function lookUp(
  rows: WriterRows,
  { id, seq }: WriterRow,
): Promise<readonly (bigint | null)[]> {
  try {
    return await retryWhileBusy(LOOK_UP, async () => {
      await rows.fence({ id, seq });
      const [row] = await rows.find({ id });
      return row?.[1] ?? [];
    });
  } catch {
    throw new OutcomeUnknown("the connection was lost, and it may have been stored");
  }
}

/**
 * Throws, because the row is not as the writer's last statement left it: an operator removed it, or the server lost
 * commits.
 */
async function refuseReplaced(
  rows: WriterRows,
  { id, seq }: WriterRow,
  onWarning: (warning: StorageWarning) => void,
): Promise<never> {
  const [row] = await rows.find({ id });
  if ((row?.[0] ?? 0) < seq) onWarning(COMMITS_LOST);
  throw new NotWritten("the database has lost this server's last commits");
}

const COMMITS_LOST: StorageWarning = {
  code: "commits_lost",
  message:
    "The database has lost commits that it had acknowledged: it crashed, failed over to a standby, or was restored.",
};

const committing = (level: "off" | "local") =>
  sql`set_config('synchronous_commit', ${sql.lit(level)}, true)`;

const NOT_DURABLE: StorageWarning = {
  code: "not_durable",
  message: "fsync or full_page_writes of the server is off, so it may lose what it has committed.",
};

type WriterRows = ReturnType<typeof prepareRows>;

/**
 * Prepares the statements on the rows of writers. Their commits wait for no standby. What a crash undoes is registered
 * or removed again; only a fence has to survive it.
 */
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
        values (${value("id")}, 0, '{}', clock_timestamp()) returning ${committing("off")}`,
    ),
    /** Makes sure that the statement with this number is not committed later. */
    fence: select(
      [],
      (_queries, value: Parameter<{ id: string; seq: number }>) =>
        sql`update ${writers} set seq = ${value("seq")}, written = '{}', seen_at = clock_timestamp()
        where id = ${value("id")} and seq < ${value("seq")} and ${withLockTimeout}
        returning ${committing("local")}`,
    ),
    remove: select(
      [],
      (_queries, value: Parameter<{ id: string }>) =>
        sql`delete from ${writers} where id = ${value("id")} returning ${committing("off")}`,
    ),
    sweep: select(
      [],
      () =>
        sql`delete from ${writers} where id = any(array(
          select id from ${writers} where seen_at < now() - ${sql.lit(FORGOTTEN_AFTER)}::interval
          for update skip locked)) returning ${committing("off")}`,
    ),
  };
}
