import type { Result } from "neverthrow";
import { addBatch, type AddedBatch, type UntrustedPets } from "./add-batch.js";
import { batchesOf } from "./batches.js";
import { countLines, type Entry } from "./entry.js";
import { describeFileError } from "../file-error.js";
import type { PetFormat } from "./pet-format.js";
import { readEntries } from "./read-entries.js";

/** How to import. */
export interface ImportPlan {
  readonly format: PetFormat;
  /** How many entries make a batch. */
  readonly batchSize: number;
  /** The first line to import; those before it are only read. */
  readonly fromLine: number;
  /** Told of each batch that is done, and how far the import is. `Err` stops it. */
  onBatch(
    batch: AddedBatch,
    soFar: Imported,
    heading: Entry | undefined,
  ): Promise<Result<void, string>>;
  /** Tells when to stop before the next batch; the bytes end with it. */
  readonly stop: AbortSignal;
}

/** How far an import is. */
export interface Imported {
  readonly pets: number;
  /** How many lines are no pets. */
  readonly bad: number;
  /** The line to go on from: everything before it is done. */
  readonly nextLine: number;
  /** Why it is not finished; `undefined` when it is. */
  readonly stopped: string | undefined;
  /** Whether the rest may be imported later: not under a heading that is wrong. */
  readonly canGoOn: boolean;
}

const TOLD_TO = "It was told to.";

/** Reads pets from a file's bytes and adds them, batch after batch, each of them whole or not at all. */
export async function importPets(
  store: UntrustedPets,
  chunks: AsyncIterable<Buffer>,
  plan: ImportPlan,
): Promise<Imported> {
  const { format, batchSize, fromLine } = plan;
  let soFar: Imported = { pets: 0, bad: 0, nextLine: fromLine, stopped: undefined, canGoOn: true };
  const stop = (stopped: string): Imported => ({ ...soFar, stopped });
  const refuse = (heading: string): Imported => ({ ...stop(heading), canGoOn: false });
  const file = readEntries(chunks, format);
  try {
    for await (const batch of batchesOf(file.groups, batchSize)) {
      const decode = format.open(file.heading());
      if (decode.isErr()) return refuse(decode.error);
      if (plan.stop.aborted) return stop(TOLD_TO);
      const entries = batch.filter(({ first }) => first >= fromLine);
      const added = await addBatch(store, decode.value, entries);
      if (added.isErr()) return stop(added.error);
      soFar = advance(soFar, added.value, entries);
      const done = await plan.onBatch(added.value, soFar, file.heading());
      if (done.isErr()) return stop(done.error);
    }
  } catch (error) {
    if (plan.stop.aborted) return stop(TOLD_TO);
    return stop(`Reading failed: ${describeFileError(error)}.`);
  }
  const opened = format.open(file.heading());
  return opened.isErr() ? refuse(opened.error) : soFar;
}

function advance(soFar: Imported, added: AddedBatch, entries: readonly Entry[]): Imported {
  return {
    ...soFar,
    pets: soFar.pets + added.pets.length,
    bad: soFar.bad + countLines(added.bad.map(({ entry }) => entry)),
    nextLine: (entries.at(-1)?.last ?? soFar.nextLine - 1) + 1,
  };
}
