import type { CreatePetOptions, TrustedPets } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeFileError, describeStoreError } from "../describe-error.js";
import { openStore, withStore } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import type { Streams, Terminal } from "../terminal.js";
import { createLineKeys, type LineKeys } from "./line-keys.js";
import { countLines, formatOf, type Entry, type EntryReader, type Format } from "./pet-file.js";
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
  readonly again?: true;
}

/** The store, as the import uses it: the store validates the input. */
interface UntrustedPets {
  createPet(input: unknown, options: CreatePetOptions): ReturnType<TrustedPets["createPet"]>;
}

/** Imports a file into the store and reports each line that cannot be imported. */
export async function importPets(
  path: string,
  { database, format, rejects: rejectsPath, fromLine, again }: ImportOptions,
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
  const keys = again === true ? undefined : createLineKeys();
  const run = { fromLine, signal: stop.signal, rejects, keys, onGroup };
  const imported = await withStore(openStore(database, { wrap: keys?.wrap }), async ({ trusted }) =>
    ok(await importAll(trusted, read(source.read(stop.signal)), run)),
  );
  stop.end();
  progress("");
  const summary = await rejects.close();
  if (imported.isErr()) return err(imported.error);
  const { pets, linesThere, stopped } = imported.value;
  const there = `${counted(linesThere, "line")} ${linesThere === 1 ? "was" : "were"} there already`;
  terminal.out(`imported ${counted(pets, "pet")}${linesThere === 0 ? "" : `; ${there}`}`);
  const advice = keys?.advice();
  if (advice !== undefined) terminal.out(advice);
  if (stopped !== undefined) return err(`the import stopped: ${stopped}`);
  return summary === undefined ? ok() : err(summary);
}

interface ImportRun {
  readonly fromLine: number;
  readonly signal: AbortSignal;
  readonly rejects: Rejects;
  /** If left out, lines that an earlier import has added are added again. */
  readonly keys: LineKeys | undefined;
  /** Called after each group of entries, with the number of pets so far. */
  readonly onGroup: (pets: number) => void;
}

interface Imported {
  /** The number of pets that were added. */
  readonly pets: number;
  /** The number of lines that an earlier import had added. */
  readonly linesThere: number;
  /** Why the import stopped, if it did not reach the end. */
  readonly stopped?: string;
}

async function importAll(
  store: UntrustedPets,
  groups: ReturnType<EntryReader>,
  { fromLine, signal, rejects, keys, onGroup }: ImportRun,
): Promise<Imported> {
  let pets = 0;
  let linesThere = 0;
  let nextLine = fromLine;
  const stopped = (reason: string): Imported => {
    const advice = `Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
    return { pets, linesThere, stopped: `${reason} ${advice}` };
  };
  try {
    for await (const group of groups) {
      if (group.isErr()) return { pets, linesThere, stopped: group.error };
      if (signal.aborted) return stopped(STOP_SIGNAL);
      const { heading } = group.value;
      const entries = group.value.entries.filter(({ first }) => first >= fromLine);
      const lineKeys = keys?.keysOf(entries, heading);
      // The storage commits the pets of a group together.
      const outcomes = await Promise.all(
        entries.map((entry, index) => create(store, entry, lineKeys?.[index])),
      );
      const of = (kind: Outcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind);
      pets += of("created").length;
      linesThere += countLines(of("there").map(({ entry }) => entry));
      const [failed] = of("failed");
      nextLine = failed?.entry.first ?? (entries.at(-1)?.last ?? nextLine - 1) + 1;
      const rejected = of("invalid").filter(({ entry }) => entry.first < nextLine);
      const added = await rejects.add(rejected, heading);
      onGroup(pets);
      if (added.isErr()) return stopped(added.error);
      if (failed !== undefined) return stopped(failed.reason);
    }
  } catch (error) {
    return stopped(signal.aborted ? STOP_SIGNAL : `Reading failed: ${describeFileError(error)}.`);
  }
  return { pets, linesThere };
}

const STOP_SIGNAL = "It received a signal to stop.";

interface Outcome extends Rejected {
  readonly kind: "created" | "there" | "invalid" | "failed";
}

async function create(
  store: UntrustedPets,
  entry: Entry,
  idempotencyKey: string | undefined,
): Promise<Outcome> {
  if (entry.pet.isErr()) return { entry, kind: "invalid", reason: entry.pet.error };
  const created = await store.createPet(entry.pet.value, { idempotencyKey });
  if (created.isOk()) {
    return { entry, kind: created.value.replayed ? "there" : "created", reason: "" };
  }
  const { code } = created.error;
  if (code === "idempotency_key_reused") return { entry, kind: "invalid", reason: KEY_REUSED };
  const kind = code === "invalid_pet" ? "invalid" : "failed";
  return { entry, kind, reason: describeStoreError(created.error) };
}

const KEY_REUSED = "An earlier import added another pet for the same line.";
