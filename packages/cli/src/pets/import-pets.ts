import { addAbortSignal } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { openStorage, withStore } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import {
  counted,
  createProgress,
  type Progress,
  type ReportError,
  type Streams,
  type Terminal,
} from "../terminal.js";
import { createEntryAdder, type EntryAdder, type Outcome } from "./add-entry.js";
import { formatOf, lineCount, type EntryReader, type Format } from "./entries.js";
import { readCsv } from "./read-csv.js";
import { readNdjson } from "./read-ndjson.js";
import { openRejects, type Rejects } from "./rejects.js";
import { openSource, type Source } from "./source.js";

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
  { database, format, rejects: rejectsPath, fromLine, again }: ImportOptions,
  { terminal, streams, report }: ImportOutput,
): Promise<Result<void, string>> {
  const source = await openSource(path, streams.stdin);
  if (source.isErr()) return err(source.error);
  const progress = createProgress(streams.stderr);
  const rejects = await openRejects(
    { path: rejectsPath, importedFile: path, database, resumes: fromLine > 1 },
    (line) => {
      progress("");
      terminal.error(line);
    },
  );
  if (rejects.isErr()) {
    source.value.stream.destroy();
    return err(rejects.error);
  }
  const stop = listenForStop();
  const read = formatOf(format, path) === "csv" ? readCsv : readNdjson;
  const run = { source: source.value, fromLine, read, rejects: rejects.value, progress };
  const stopped = await withStore(openStorage(database, report), async (storage) => {
    const adder = createEntryAdder(storage, again === true);
    const imported = await importLines({ ...run, adder, signal: stop.signal });
    progress("");
    terminal.out(describe(imported));
    const advice = adder.advice();
    if (advice !== undefined) terminal.out(advice);
    return ok(imported.stopped);
  });
  stop.end();
  source.value.stream.destroy();
  const summary = await rejects.value.close();
  if (stopped.isErr()) return err(stopped.error);
  if (stopped.value !== undefined) return err(`the import stopped: ${stopped.value}`);
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
    addAbortSignal(signal, source.stream);
    for await (const { entries, heading, problem } of read(source.chunks)) {
      if (problem !== undefined) return { pets, linesThere, stopped: problem };
      if (signal.aborted) return stopped(STOP_SIGNAL);
      const wanted = entries.filter(({ first }) => first >= fromLine);
      // The storage commits the pets of a batch together.
      const outcomes = await Promise.all(wanted.map((entry) => adder.add(entry, heading)));
      const of = (kind: Outcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind);
      pets += of("added").length;
      for (const { entry } of of("there")) linesThere += lineCount(entry);
      const [failed] = of("failed");
      nextLine = failed?.entry.first ?? (wanted.at(-1)?.last ?? nextLine - 1) + 1;
      const rejected = of("rejected").filter(({ entry }) => entry.first < nextLine);
      const added = await rejects.add(rejected, heading);
      if (wanted.length > 0) progress(counted(pets, "pet"), source.fraction());
      if (added.isErr()) return stopped(added.error);
      if (failed !== undefined) return stopped(failed.reason);
    }
    return { pets, linesThere };
  } catch (error) {
    return stopped(signal.aborted ? STOP_SIGNAL : `Reading failed: ${describeFileError(error)}.`);
  }
}

const STOP_SIGNAL = "It received a signal to stop.";

function describe({ pets, linesThere }: Imported): string {
  const there = `${counted(linesThere, "line")} ${linesThere === 1 ? "was" : "were"} there already`;
  return `imported ${counted(pets, "pet")}${linesThere === 0 ? "" : `; ${there}`}`;
}
