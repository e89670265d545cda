import { addAbortSignal } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { openStorage } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import type { ReportError, Streams, Terminal } from "../terminal.js";
import { createEntryAdder, type EntryAdder, type Outcome } from "./add-entry.js";
import {
  createNdjsonReader,
  formatOf,
  lineCount,
  type EntryReader,
  type Format,
} from "./entries.js";
import { counted, createProgress, type Progress } from "./progress.js";
import { createCsvReader } from "./read-csv.js";
import { createRejects, openRejects, type Rejects } from "./rejects.js";
import { findSource, readBlocks, type Source } from "./source.js";

/** The options of `petstore pets import`. */
export interface ImportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly rejects?: string;
  readonly fromLine: number;
  readonly again?: true;
}

interface ImportOutput {
  readonly terminal: Terminal;
  readonly streams: Streams;
  /** Reports that a database was created. */
  readonly report: ReportError;
}

/** Imports a file into the store and reports each line that cannot be imported. */
export async function importPets(
  path: string,
  options: ImportOptions,
  { terminal, streams, report }: ImportOutput,
): Promise<Result<void, string>> {
  const { database, fromLine, again = false } = options;
  const source = await findSource(path, streams.stdin);
  if (source.isErr()) return err(source.error);
  const file = await openRejects(options.rejects, path, database, fromLine > 1);
  if (file.isErr()) return err(file.error);
  const progress = createProgress(streams.stderr);
  const rejects = createRejects(file.value, (line) => {
    progress("");
    terminal.error(line);
  });
  const stop = listenForStop();
  const storage = await openStorage(database, report);
  if (storage.isErr()) {
    stop.end();
    await rejects.close();
    return err(storage.error);
  }
  const adder = createEntryAdder(storage.value, again);
  const read = formatOf(options.format, path) === "csv" ? createCsvReader() : createNdjsonReader();
  const { signal } = stop;
  const run = { source: source.value, fromLine, read, adder, rejects, progress, signal };
  const { pets, linesThere, stopped } = await importLines(run);
  stop.end();
  progress("");
  const closed = await storage.value.close();
  const summary = await rejects.close();
  if (closed.isErr()) return err(closed.error.message);

  const there = `${counted(linesThere, "line")} ${linesThere === 1 ? "was" : "were"} there already`;
  terminal.out(`imported ${counted(pets, "pet")}${linesThere === 0 ? "" : `; ${there}`}`);
  const advice = adder.advice();
  if (advice !== undefined) terminal.out(advice);
  if (stopped !== undefined) return err(`the import stopped: ${stopped}`);
  return summary === undefined ? ok() : err(summary);
}

interface Import {
  readonly source: Source;
  readonly fromLine: number;
  readonly read: EntryReader;
  readonly adder: EntryAdder;
  readonly rejects: Rejects;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface Imported {
  /** The number of pets that were added. */
  readonly pets: number;
  /** The number of lines that an earlier import had added. */
  readonly linesThere: number;
  /** Why the import stopped, if it did not reach the end. */
  readonly stopped?: string;
}

async function importLines(run: Import): Promise<Imported> {
  const { source, fromLine, read, adder, rejects, progress, signal } = run;
  let pets = 0;
  let linesThere = 0;
  let nextLine = fromLine;
  const stopped = (reason: string): Imported => {
    const advice = `Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
    return { pets, linesThere, stopped: `${reason} ${advice}` };
  };
  try {
    for await (const block of readBlocks(addAbortSignal(signal, source.open()))) {
      const { entries, heading, problem } = read(block.lines, block.isEnd);
      if (problem !== undefined) return { pets, linesThere, stopped: problem };
      if (signal.aborted) return stopped(STOP_SIGNAL);
      const wanted = entries.filter(({ first }) => first >= fromLine);
      // The storage commits the pets of a block together.
      const outcomes = await Promise.all(wanted.map((entry) => adder.add(entry, heading)));
      const of = (kind: Outcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind);
      pets += of("added").length;
      for (const { entry } of of("there")) linesThere += lineCount(entry);
      const [failed] = of("failed");
      nextLine = failed?.entry.first ?? (wanted.at(-1)?.last ?? nextLine - 1) + 1;
      const rejected = of("rejected").filter(({ entry }) => entry.first < nextLine);
      const added = await rejects.add(rejected, heading);
      const fraction = source.size === 0 ? undefined : Math.min(block.bytesRead / source.size, 1);
      if (wanted.length > 0) progress(counted(pets, "pet"), fraction);
      if (added.isErr()) return stopped(added.error);
      if (failed !== undefined) return stopped(failed.reason);
    }
    return { pets, linesThere };
  } catch (error) {
    return stopped(signal.aborted ? STOP_SIGNAL : `Reading failed: ${describeFileError(error)}.`);
  }
}

const STOP_SIGNAL = "It received a signal to stop.";
