import type { TrustedPets } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeFileError, describeStoreError } from "../describe-error.js";
import { openStore, withStore } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import type { Streams, Terminal } from "../terminal.js";
import {
  counted,
  countLines,
  formatOf,
  type Entry,
  type EntryGroup,
  type EntryReader,
  type Format,
} from "./pet-file.js";
import { createProgress } from "./progress.js";
import { readCsv } from "./read-csv.js";
import { readNdjson } from "./read-ndjson.js";
import { openRejects } from "./rejects.js";
import { findSource } from "./source.js";

/** The options of `petstore pets import`. */
export interface ImportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly rejects?: string;
  readonly fromLine: number;
}

/** The store, as the import uses it: the store validates the input. */
interface UntrustedPets {
  createPet(input: unknown): ReturnType<TrustedPets["createPet"]>;
}

/** The state of an import. */
interface Imported {
  readonly pets: number;
  /** The number of lines that could not be imported. */
  readonly badLines: number;
  /** The line to resume at: all lines before it are imported or reported. */
  readonly nextLine: number;
  /** Why the import stopped early. `canResume` is false if it would stop at the same line again. */
  readonly stopped?: { readonly reason: string; readonly canResume: boolean };
}

/** The outcome of entries that were imported together. */
interface BatchOutcome {
  readonly pets: number;
  readonly bad: readonly BadEntry[];
  /** The line after the last entry that was imported or reported. */
  readonly nextLine: number;
  /** Why the storage did not store the entries from that line on. */
  readonly failure: string | undefined;
}

interface BadEntry {
  readonly entry: Entry;
  readonly reason: string;
}

/** How to run an import. */
interface ImportRun {
  readonly fromLine: number;
  readonly stop: AbortSignal;
  /** Called after each batch. `Err` stops the import. */
  onBatch(batch: BatchOutcome, soFar: Imported, group: EntryGroup): Promise<Result<void, string>>;
}

/** The number of pets that are created at the same time, so that the storage commits them together. */
const IN_FLIGHT = 1_000;

/** Imports a file into the store and reports each line that cannot be imported. */
export async function importPets(
  path: string,
  { database, format, rejects: rejectsPath, fromLine }: ImportOptions,
  terminal: Terminal,
  { stdin, stderr }: Streams,
): Promise<Result<void, string>> {
  const found = await findSource(path, stdin);
  if (found.isErr()) return err(found.error);
  const source = found.value;
  const mayExist = fromLine > 1;
  const opened = await openRejects({ path: rejectsPath, mayExist, source: path, database });
  if (opened.isErr()) return err(opened.error);
  const rejects = opened.value;

  const progress = createProgress(stderr);
  let kept = 0;
  const onBatch: ImportRun["onBatch"] = async ({ bad }, { pets }, { heading }) => {
    if (bad.length > 0) progress.clear();
    for (const { entry, reason } of bad) terminal.error(`${positionOf(entry)}: ${reason}`);
    progress.show(source.progress(), counted(pets, "pet"));
    const entries = bad.map(({ entry }) => entry);
    const written = await rejects.write(entries, heading);
    return written.map((lines) => void (kept += lines));
  };
  const { signal: stop, end } = listenForStop();
  const read = formatOf(format, path) === "csv" ? readCsv : readNdjson;
  const imported = await withStore(openStore(database), async ({ trusted }) =>
    ok(await importAll(trusted, read(source.read(stop)), { fromLine, stop, onBatch })),
  );
  end();
  progress.clear();
  await rejects.close();
  if (imported.isErr()) return err(imported.error);

  terminal.out(`imported ${counted(imported.value.pets, "pet")}`);
  return conclude(imported.value, kept, rejectsPath);
}

async function importAll(
  store: UntrustedPets,
  groups: ReturnType<EntryReader>,
  run: ImportRun,
): Promise<Imported> {
  const { fromLine, stop } = run;
  let soFar: Imported = { pets: 0, badLines: 0, nextLine: fromLine };
  const stopped = (reason: string, canResume = true): Imported => ({
    ...soFar,
    stopped: { reason, canResume },
  });
  try {
    for await (const group of groups) {
      if (group.isErr()) return stopped(group.error, false);
      const entries = group.value.entries.filter(({ first }) => first >= fromLine);
      for (let start = 0; start < entries.length; start += IN_FLIGHT) {
        if (stop.aborted) return stopped(STOP_SIGNAL);
        const batch = await createAll(store, entries.slice(start, start + IN_FLIGHT));
        const { pets, bad, nextLine, failure } = batch;
        soFar = {
          pets: soFar.pets + pets,
          badLines: soFar.badLines + countLines(bad.map(({ entry }) => entry)),
          nextLine,
        };
        const done = await run.onBatch(batch, soFar, group.value);
        if (done.isErr()) return stopped(done.error);
        if (failure !== undefined) return stopped(failure);
      }
    }
  } catch (error) {
    return stopped(stop.aborted ? STOP_SIGNAL : `Reading failed: ${describeFileError(error)}.`);
  }
  return soFar;
}

const STOP_SIGNAL = "It received a signal to stop.";

/**
 * Creates the pets of these entries at the same time. If the storage fails, the import can resume at the
 * first entry after the last stored pet. In rare cases an earlier entry is not stored. It is reported as
 * bad, because resuming at it would import the later entries twice.
 */
async function createAll(store: UntrustedPets, entries: readonly Entry[]): Promise<BatchOutcome> {
  const outcomes = await Promise.all(entries.map((entry) => create(store, entry)));
  const lastCreated = outcomes.findLastIndex(({ kind }) => kind === "created");
  const failed = outcomes.findIndex(({ kind }, index) => kind === "failed" && index > lastCreated);
  const done = failed < 0 ? outcomes : outcomes.slice(0, failed);
  return {
    pets: done.filter(({ kind }) => kind === "created").length,
    bad: done.filter(({ kind }) => kind !== "created"),
    nextLine: entries[failed]?.first ?? (entries.at(-1)?.last ?? 0) + 1,
    failure: outcomes[failed]?.reason,
  };
}

interface Outcome extends BadEntry {
  readonly kind: "created" | "invalid" | "failed";
}

async function create(store: UntrustedPets, entry: Entry): Promise<Outcome> {
  if (entry.pet.isErr()) return { entry, kind: "invalid", reason: entry.pet.error };
  const created = await store.createPet(entry.pet.value);
  if (created.isOk()) return { entry, kind: "created", reason: "" };
  const kind = created.error.code === "invalid_pet" ? "invalid" : "failed";
  return { entry, kind, reason: describeStoreError(created.error) };
}

function positionOf({ first, last }: Entry): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

function conclude(
  { badLines, nextLine, stopped }: Imported,
  kept: number,
  rejectsPath: string | undefined,
): Result<void, string> {
  if (stopped !== undefined) {
    const { reason, canResume } = stopped;
    const advice = ` Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
    return err(`the import stopped: ${reason}${canResume ? advice : ""}`);
  }
  if (badLines === 0) return ok();
  const count = kept === badLines ? "" : `${kept.toLocaleString("en-US")} of them `;
  const where =
    rejectsPath === undefined || kept === 0 ? "" : `: ${count}written to ${rejectsPath}`;
  return err(`${counted(badLines, "line")} could not be imported${where}`);
}
