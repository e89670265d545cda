import type { StorageError } from "@petstore/core/storage";
import { createGroupCommit, createTurns, type UsageTransaction } from "@petstore/storage-sql";
import type { Commit, GroupCommit, RetrySettings, UsageSubject } from "@petstore/storage-sql";
import { ok, type Result } from "neverthrow";
import type { Synchronous } from "../commit/transactions.js";
import type { Connection } from "../database/connection.js";
import { isBusy, isCausedByCall, ReadFailed, toFailure } from "../database/errors.js";
import type { RememberedUsage } from "./api-key-usage.js";

/** What the writes of a transaction share: they collect changes in it, and `flush` writes these. */
export type Changes = { readonly flush: () => void };

export type Groups<Shared extends Changes = Changes> = ReturnType<typeof createGroups<Shared>>;

/** If several calls shared a transaction, the next one waits one more turn for requests that are being parsed. */
const GATHER_TURNS = 1;

export function createGroups<Shared extends Changes>(
  connection: Connection,
  settings: RetrySettings,
  remembered: RememberedUsage,
  begin: () => Shared,
) {
  const errors = { isBusy, isCausedByCall, toFailure };
  const common = { ...settings, errors, turns: createTurns(GATHER_TURNS) };
  const beginCharges = (): UsageTransaction => {
    remembered.begin();
    return remembered;
  };
  const flushCharges = (): void => {
    quickReads.throwIfFailed();
    remembered.flush();
  };
  // A request is charged before it reads or writes: these groups commit in this order.
  const charges = createGroupCommit<UsageTransaction, UsageSubject>({
    ...common,
    kind: { storage: "sqlite", group: "charges" },
    commit: commitWrites(connection, "NORMAL", remembered, beginCharges, flushCharges),
  });
  const reads = createGroupCommit<undefined>({
    ...common,
    kind: { storage: "sqlite", group: "reads" },
    commit: (calls) => connection.read(() => calls.map(({ work }) => work(undefined))),
    // A damaged page fails only the calls that read it.
    errors: { ...errors, isCausedByCall: () => true },
  });
  const writes = createGroupCommit<Shared>({
    ...common,
    kind: { storage: "sqlite", group: "writes" },
    commit: commitWrites(connection, "FULL", remembered, begin, ({ flush }) => flush()),
  });
  const quickReads = createQuickReads(connection, reads);
  return { reads, writes, charges, readQuickly: quickReads.read };
}

/**
 * Creates the reads that run in the charge which starts them: without, a lone `getPet` takes 1.2 times as long. SQLite
 * refuses to commit once a read has failed: the charge then runs again, and from then on these reads run apart, so that a
 * damaged page fails only the calls that read it.
 */
function createQuickReads(connection: Connection, reads: GroupCommit<undefined>) {
  let mode: "in charges" | "failed in a charge" | "apart" = "in charges";
  return {
    /** Runs a read that takes microseconds: in the charge that starts it, or with the reads. */
    read: <T>(name: string, work: () => T): Promise<Result<T, StorageError>> => {
      if (mode === "in charges" && connection.isWriting()) {
        try {
          return Promise.resolve(ok(work()));
        } catch {
          mode = "failed in a charge";
        }
      }
      return reads.add(name, work);
    },
    /** To be called before a charge is stored. */
    throwIfFailed: (): void => {
      if (mode !== "failed in a charge") return;
      mode = "apart";
      throw new ReadFailed();
    },
  };
}

/** Commits calls that share the state of one transaction; `flush` writes the changes that they collected in it. */
function commitWrites<Shared>(
  connection: Connection,
  synchronous: Synchronous,
  remembered: RememberedUsage,
  begin: () => Shared,
  flush: (shared: Shared) => void,
): Commit<Shared, unknown> {
  return (calls) => {
    try {
      return connection.write(synchronous, () => {
        const shared = begin();
        const results = calls.map(({ work }) => work(shared));
        flush(shared);
        return results;
      });
    } catch (error) {
      remembered.forget();
      throw error;
    }
  };
}
