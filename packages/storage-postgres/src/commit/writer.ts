import type { StorageWarning } from "@petstore/core/storage";
import { systemRandom } from "@petstore/core/internal";
import { monotonicNow, retryWhileBusy, type Parameter } from "@petstore/storage-sql";
import { sql, type RawBuilder } from "kysely";
import type { Connection } from "../database/connection.js";
import { causeOf, isBusy, isConnectionLost, mayBeCommitted } from "../database/errors.js";
import { NotWritten, OutcomeUnknown } from "../database/errors.js";
import { LEVELS, withLockTimeout } from "./write.js";
import type { Numbered, Recorded, Synchronous, Write } from "./write.js";

/** How long a writer tries to find out whether a statement was committed. */
const LOOK_UP = { timeout: 3_000, now: monotonicNow, isBusy };

/** A writer that was idle for longer takes a new row, because the old one may be forgotten. In milliseconds: a day. */
const LONGEST_IDLE = 86_400_000;

const LOST_BEFORE = "the connection was lost before the statement was committed";
const MAY_BE_STORED = "the connection was lost, and it may have been stored";

/** A writer's row: its id, and the number of its last statement. */
type WriterRow = Omit<Numbered, "before">;

/**
 * Runs statements that write, each exactly once. When the connection is lost, the statement may have been
 * committed, may have failed, or may still be running. Each statement therefore has a number: it sets this
 * number in the writer's own row of `writers`, and does nothing unless it finds that of the last committed one there.
 * After an error, the writer sets the number itself. The row then shows whether the statement was committed, and the
 * statement can no longer be committed later. Without the row, that is not known: an operator may have removed it.
 */
export type Writer = ReturnType<typeof createWriter>;

export type Writers = ReturnType<typeof createWriters>;

/** Opens the writers of a storage, each for statements that run one after another. @param onWarning as of each writer */
export function createWriters(
  connection: Connection,
  onWarning: (warning: StorageWarning) => void,
) {
  const open: Writer[] = [];
  return {
    open: (synchronous: Synchronous): Writer => {
      const writer = createWriter(connection, onWarning, synchronous);
      open.push(writer);
      return writer;
    },
    /** What is left of a writer whose row cannot be removed is removed later by others. */
    close: () => Promise.allSettled(open.map((writer) => writer.close())),
  };
}

/** @param onWarning learns that the database has lost commits, or may lose them. */
function createWriter(
  connection: Connection,
  onWarning: (warning: StorageWarning) => void,
  synchronous: Synchronous,
) {
  const rows = prepareRows(connection, synchronous);
  /** The number of the last statement, also of one that was refused: what refused it may have committed it all the same. */
  let last = 0;
  /** The row as the last statement left it; `undefined` before the first statement, and if that is not known. */
  let row: WriterRow | undefined;
  /** A row that could not be looked up in time. It will show whether the database has lost commits. */
  let missed: WriterRow | undefined;
  let wroteAt = -Infinity;
  let wasDurable = true;

  /** Inserts a row for a new writer. Removes those of writers that are gone. */
  const begin = async (): Promise<WriterRow> => {
    const id = Buffer.from(systemRandom(16)).toString("hex");
    await rows.insert({ id });
    await rows.sweep(undefined);
    if (missed) {
      const [[seq] = [0]] = await rows.find(missed);
      if (seq < missed.seq) onWarning(COMMITS_LOST);
      missed = undefined;
    }
    return { id, seq: 0 };
  };
  /** Resolves to what a statement has recorded: nothing if it was not committed; `undefined` if that is not known. */
  const lookUp = async (before: WriterRow, after: Numbered): Promise<Recorded | undefined> => {
    const found = await retryWhileBusy(LOOK_UP, () => rows.fence(after)).catch(() => undefined);
    row = undefined;
    if (!found) {
      missed = before;
      return undefined;
    }
    const [[seq, written] = []] = found;
    if ((seq ?? 0) < before.seq) onWarning(COMMITS_LOST);
    else if (seq !== undefined) row = after;
    if (seq === undefined) return undefined;
    return seq === after.seq ? written : [];
  };
  return {
    /**
     * Runs a statement, and resolves to what it recorded. The earlier one must have ended.
     * @throws NotWritten when it certainly stored nothing; OutcomeUnknown; PostgreSQL's errors
     */
    write: async <Argument>(statement: Write<Argument>, argument: Argument, timeout?: number) => {
      const now = monotonicNow();
      if (now - wroteAt > LONGEST_IDLE) row = undefined;
      wroteAt = now;
      const before = (row ??= await begin());
      const after = { id: before.id, before: before.seq, seq: (last += 1) };
      try {
        const [result] = await statement({ argument, ...after }, timeout);
        if (result) {
          const [written, isDurable] = result;
          row = after;
          if (wasDurable && !isDurable) onWarning(NOT_DURABLE);
          wasDurable = isDurable;
          return written;
        }
      } catch (error) {
        if (!mayBeCommitted(error)) throw error;
        const cause = causeOf(error);
        const recorded = await lookUp(before, after);
        if (recorded === undefined) throw new OutcomeUnknown(MAY_BE_STORED, { cause });
        if (recorded.length > 0) return recorded;
        throw isConnectionLost(error) ? new NotWritten(LOST_BEFORE, { cause }) : error;
      }
      // The statement has not found the number of the one before. If it arrived twice, the first may be committed.
      const recorded = await lookUp(before, after);
      if (recorded && recorded.length > 0) return recorded;
      if (missed === before) throw new OutcomeUnknown(MAY_BE_STORED);
      throw new NotWritten("the database has lost this server's last commits");
    },
    close: async (): Promise<void> => {
      if (row) await rows.remove(row);
    },
  };
}

const COMMITS_LOST: StorageWarning = {
  code: "commits_lost",
  message:
    "The database has lost commits that it had acknowledged: it crashed, failed over to a standby, or was restored.",
};

const NOT_DURABLE: StorageWarning = {
  code: "not_durable",
  message: "fsync or full_page_writes of the server is off, so it may lose what it has committed.",
};

/**
 * Prepares the statements on the rows of writers. Of their commits, only that of a fence has to survive a crash: after
 * one, a writer registers itself again, and rows that are left are removed again.
 */
function prepareRows({ prepare, select, table }: Connection, synchronous: Synchronous) {
  const writers = table("writers");
  return {
    insert: prepare(
      [],
      (value: Parameter<{ id: string }>) =>
        sql`insert into ${writers} (id, seq, written, seen_at)
        values (${value("id")}, 0, '{}', clock_timestamp()) returning ${LEVELS.off}`,
    ),
    /**
     * Sets the number of a statement in the writer's row, and returns the row as it was. If the statement was not
     * committed, it cannot be any more. If it was, its commit now survives what it was to survive: a lost connection may
     * have ended its own wait for a standby. A row whose number is lower than the one before is not changed.
     */
    fence: prepare(
      ["seq", "written"],
      (value: Parameter<Numbered>, columns: RawBuilder<unknown>) =>
        sql<{ seq: number; written: Recorded }>`
        with found as (
          select * from ${writers} where id = ${value("id")} and ${withLockTimeout} for no key update),
        fenced as (
          update ${writers} as own set seq = ${value("seq")}, seen_at = clock_timestamp(),
            written = case when found.seq = ${value("seq")} then found.written else '{}' end
          from found where own.id = found.id and found.seq >= ${value("before")}
          returning ${synchronous === "on" ? LEVELS.on : sql`set_config('synchronous_commit', 'local', true)`})
        select ${columns} from found`,
    ),
    find: select(
      ["seq"],
      (value: Parameter<{ id: string }>) =>
        sql<{ seq: number }>`select seq from ${writers} where id = ${value("id")}`,
    ),
    remove: prepare(
      [],
      (value: Parameter<{ id: string }>) =>
        sql`delete from ${writers} where id = ${value("id")} returning ${LEVELS.off}`,
    ),
    /** Forgets writers that are gone without having closed. */
    sweep: prepare(
      [],
      () =>
        sql`delete from ${writers} where id = any(array(
          select id from ${writers} where seen_at < now() - '7 days'::interval
          for update skip locked)) returning ${LEVELS.off}`,
    ),
  };
}
