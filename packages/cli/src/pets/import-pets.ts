import type { TrustedPets } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeFileError, describeStoreError } from "../describe-error.js";
import { openStore, withStore } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import type { Streams, Terminal } from "../terminal.js";
import { formatOf, type Entry, type EntryReader, type Format } from "./pet-file.js";
import { counted, createProgress } from "./progress.js";
import { readCsv } from "./read-csv.js";
import { readNdjson } from "./read-ndjson.js";
import { openRejects, type Rejected, type Rejects } from "./rejects.js";
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
  const progress = createProgress(stderr);
  const list = (line: string): void => {
    progress("");
    terminal.error(line);
  };
  const mayExist = fromLine > 1;
  const opened = await openRejects({ path: rejectsPath, mayExist, source: path, database, list });
  if (opened.isErr()) return err(opened.error);
  const rejects = opened.value;

  const stop = listenForStop();
  const onGroup = (pets: number): void => progress(counted(pets, "pet"), source.fraction());
  const read = formatOf(format, path) === "csv" ? readCsv : readNdjson;
  const run = { fromLine, signal: stop.signal, rejects, onGroup };
  const imported = await withStore(openStore(database), async ({ trusted }) =>
    ok(await importAll(trusted, read(source.read(stop.signal)), run)),
  );
  stop.end();
  progress("");
  const summary = await rejects.close();
  if (imported.isErr()) return err(imported.error);
  terminal.out(`imported ${counted(imported.value.pets, "pet")}`);
  const { stopped } = imported.value;
  if (stopped !== undefined) return err(`the import stopped: ${stopped}`);
  return summary === undefined ? ok() : err(summary);
}

interface ImportRun {
  readonly fromLine: number;
  readonly signal: AbortSignal;
  readonly rejects: Rejects;
  /** Called after each group of entries, with the number of pets so far. */
  readonly onGroup: (pets: number) => void;
}

/** The number of pets that were imported, and why the import stopped if it did not reach the end. */
interface Imported {
  readonly pets: number;
  readonly stopped?: string;
}

async function importAll(
  store: UntrustedPets,
  groups: ReturnType<EntryReader>,
  { fromLine, signal, rejects, onGroup }: ImportRun,
): Promise<Imported> {
  let pets = 0;
  let nextLine = fromLine;
  const stopped = (reason: string): Imported => {
    const advice = `Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
    return { pets, stopped: `${reason} ${advice}` };
  };
  try {
    for await (const group of groups) {
      if (group.isErr()) return { pets, stopped: group.error };
      if (signal.aborted) return stopped(STOP_SIGNAL);
      const entries = group.value.entries.filter(({ first }) => first >= fromLine);
      const { done, failed } = await createAll(store, entries);
      const rejected = done.filter(({ kind }) => kind !== "created");
      pets += done.length - rejected.length;
      nextLine = failed?.entry.first ?? (entries.at(-1)?.last ?? nextLine - 1) + 1;
      const added = await rejects.add(rejected, group.value.heading);
      onGroup(pets);
      if (added.isErr()) return stopped(added.error);
      if (failed !== undefined) return stopped(failed.reason);
    }
  } catch (error) {
    return stopped(signal.aborted ? STOP_SIGNAL : `Reading failed: ${describeFileError(error)}.`);
  }
  return { pets };
}

const STOP_SIGNAL = "It received a signal to stop.";

interface Outcome extends Rejected {
  readonly kind: "created" | "invalid" | "failed";
}

/**
 * Creates the pets of these entries at the same time, so that the storage commits them together. If the
 * storage fails, the import can resume at the first entry after the last stored pet. In rare cases an
 * earlier entry is not stored. It is rejected, because resuming at it would import the later ones twice.
 */
async function createAll(
  store: UntrustedPets,
  entries: readonly Entry[],
): Promise<{ readonly done: readonly Outcome[]; readonly failed: Outcome | undefined }> {
  const outcomes = await Promise.all(entries.map((entry) => create(store, entry)));
  const lastCreated = outcomes.findLastIndex(({ kind }) => kind === "created");
  const failed = outcomes.findIndex(({ kind }, index) => kind === "failed" && index > lastCreated);
  return { done: failed < 0 ? outcomes : outcomes.slice(0, failed), failed: outcomes[failed] };
}

async function create(store: UntrustedPets, entry: Entry): Promise<Outcome> {
  if (entry.pet.isErr()) return { entry, kind: "invalid", reason: entry.pet.error };
  const created = await store.createPet(entry.pet.value);
  if (created.isOk()) return { entry, kind: "created", reason: "" };
  const kind = created.error.code === "invalid_pet" ? "invalid" : "failed";
  return { entry, kind, reason: describeStoreError(created.error) };
}
