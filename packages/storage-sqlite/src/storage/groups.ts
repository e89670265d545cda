import {
  createGroupCommit,
  createUsageTransaction,
  type Commit,
  type GroupCommit,
  type UsageSubject,
  type UsageTransaction,
} from "@petstore/storage-sql";
import { ok } from "neverthrow";
import type { Synchronous } from "../commit/transactions.js";
import type { Connection } from "../database/connection.js";
import { isBusy, isCausedByCall, ReadFailed, toFailure } from "../database/errors.js";
import type { ApiKeyUsage } from "../tables/api-key-usage.js";
import { preparePetCreations } from "../tables/pet-creations.js";
import type { Pets } from "../tables/pets.js";
import { createPetsTransaction, type PetsTransaction, type ReadPets } from "./pet-storage.js";

/** The groups of calls that share transactions. */
export interface Groups {
  readonly reads: GroupCommit<undefined>;
  /** Changes of pets and keys. */
  readonly writes: GroupCommit<PetsTransaction>;
  readonly charges: GroupCommit<UsageTransaction, UsageSubject>;
  /** Runs a read of pets: inside the charge that starts it, or in the group of reads. */
  readonly readPets: ReadPets;
}

/** What all calls of a storage have in common. */
export interface GroupSettings {
  /** How long a call waits for a locked database, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
}

/**
 * How many turns of the event loop charges wait for others, if several shared the last transaction. One turn receives the
 * requests that arrived while others were parsed, and a larger transaction costs little more.
 */
const GATHER_TURNS = 1;

export function createGroups(
  connection: Connection,
  settings: GroupSettings,
  pets: Pets,
  usage: ApiKeyUsage,
): Groups {
  const creations = preparePetCreations(connection);
  const errors = { isBusy, isCausedByCall, toFailure };
  const reads = createGroupCommit<undefined>({
    ...settings,
    kind: { storage: "sqlite", group: "reads" },
    commit: (calls) => connection.read(() => calls.map(({ work }) => work(undefined))),
    // A damaged page fails only the calls that read it.
    errors: { ...errors, isCausedByCall: () => true },
  });
  const writes = createGroupCommit({
    ...settings,
    kind: { storage: "sqlite", group: "writes" },
    commit: commitWrites(
      connection,
      "FULL",
      () => createPetsTransaction(pets, creations),
      (transaction) => transaction.flush(),
    ),
    errors,
  });
  const petReads = createPetReads(connection, reads);
  const charges = createGroupCommit<UsageTransaction, UsageSubject>({
    ...settings,
    kind: { storage: "sqlite", group: "charges" },
    commit: commitWrites(
      connection,
      "NORMAL",
      () => createUsageTransaction(usage),
      ({ changed }) => {
        petReads.throwIfFailed();
        changed.forEach((used, keyId) => usage.save(keyId, used));
      },
    ),
    errors,
    gatherTurns: GATHER_TURNS,
    // A request is charged before it reads or writes.
    followedBy: [reads, writes],
  });
  return { reads, writes, charges, readPets: petReads.read };
}

/**
 * Creates the reads of pets. A quick one that a charge's decision starts runs in the transaction of the charge; the
 * others share transactions without its lock, so that processes can read at the same time. If a read fails inside a
 * charge, SQLite refuses to commit it. The charge then runs again, and from then on reads run apart from charges: a
 * damaged page fails only the calls that read it.
 */
function createPetReads(connection: Connection, reads: GroupCommit<undefined>) {
  let mode: "in charges" | "failed in a charge" | "apart" = "in charges";

  const read: ReadPets = (name, work, quickWork) => {
    if (mode === "in charges" && connection.isWriting()) {
      try {
        const value = quickWork();
        if (value !== undefined) return Promise.resolve(ok(value));
      } catch {
        mode = "failed in a charge";
      }
    }
    return reads.add(name, work);
  };
  /** To be called before a charge is stored. */
  const throwIfFailed = (): void => {
    if (mode !== "failed in a charge") return;
    mode = "apart";
    throw new ReadFailed();
  };
  return { read, throwIfFailed };
}

/**
 * Commits calls that share the state of one transaction.
 *
 * @param flush writes the changes that the calls collected in it.
 */
function commitWrites<Shared>(
  connection: Connection,
  synchronous: Synchronous,
  begin: () => Shared,
  flush: (shared: Shared) => void,
): Commit<Shared, unknown> {
  return (calls) =>
    connection.write(synchronous, () => {
      const shared = begin();
      const results = calls.map(({ work }) => work(shared));
      flush(shared);
      return results;
    });
}
