import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, ResultAsync, type Result } from "neverthrow";
import type { Streams } from "../streams.js";
import type { Terminal } from "../terminal.js";
import { openStore, withStore } from "../with-store.js";
import { counted } from "./counted.js";
import { placeOf } from "./entry.js";
import { importPets, type Imported, type ImportPlan } from "./import-pets.js";
import { formatOf, type FormatName } from "./pet-formats.js";
import { createProgress } from "./progress.js";
import { noRejects, openRejects, type Rejects } from "./rejects.js";
import { isSameFile } from "./same-file.js";
import { findSource } from "./source.js";
import { listenForStop } from "../stop-signal.js";

/** What `petstore pets import` takes. */
export interface ImportOptions {
  readonly database: string;
  readonly format?: FormatName;
  readonly batch: number;
  /** Where bad lines are kept; `false`: nowhere; left out: beside what is read, if that is a file. */
  readonly rejects?: string | false;
  readonly fromLine: number;
}

/** Imports a file into the store and reports it. `Err` says why not all of it was imported. */
export async function importFile(
  path: string,
  { database, format, batch, rejects: place, fromLine }: ImportOptions,
  terminal: Terminal,
  streams: Streams,
): Promise<Result<void, string>> {
  const source = await findSource(path, streams.stdin);
  if (source.isErr()) return err(source.error);
  const taken = place ? await whatIsAt(place, path, database) : undefined;
  if (taken !== undefined) return err(`cannot keep bad lines in ${String(place)}: it is ${taken}`);
  const rejects = await rejectsAt(place, source.value.path, fromLine > 1);
  if (rejects.isErr()) return err(rejects.error);

  const progress = createProgress(streams.stderr);
  let kept = 0;
  const onBatch: ImportPlan["onBatch"] = async ({ bad }, soFar, heading) => {
    if (bad.length > 0) progress.clear();
    for (const { entry, reason } of bad) terminal.error(`${placeOf(entry)}: ${reason}`);
    progress.show(source.value.progress(), counted(soFar.pets, "pet"));
    const entries = bad.map(({ entry }) => entry);
    const keeping = await rejects.value.keep(entries, heading);
    return keeping.map((count) => {
      kept += count;
    });
  };
  const stopSignal = listenForStop();
  const stop = stopSignal.signal;
  const plan = { format: formatOf(format, path), batchSize: batch, fromLine, onBatch, stop };
  const imported = await withStore(openStore(database), ({ trusted }) =>
    ResultAsync.fromSafePromise(importPets(trusted, source.value.read(stop), plan)),
  );
  stopSignal.end();
  progress.clear();
  return imported.andThen((done) => conclude(done, { kept, path: rejects.value.path }, terminal));
}

/** What a place for bad lines must not be, if it is that. */
async function whatIsAt(
  place: string,
  source: string,
  database: string,
): Promise<string | undefined> {
  if (isFileOfDatabase(database, place)) return "a file of the database";
  return (await isSameFile(place, source)) ? "the file that is imported" : undefined;
}

function rejectsAt(
  wanted: string | false | undefined,
  source: string | undefined,
  mayContinue: boolean,
): Promise<Result<Rejects, string>> {
  if (typeof wanted === "string") return openRejects({ path: wanted, mayContinue, isWanted: true });
  if (wanted === false || source === undefined) return Promise.resolve(ok(noRejects));
  // pets.csv: pets.rejects.csv, by whose name the format can still be told.
  const path = source.replace(/(\.[^./\\]*)?$/, ".rejects$1");
  return openRejects({ path, mayContinue, isWanted: false });
}

function conclude(
  { pets, bad, nextLine, stopped, canGoOn }: Imported,
  { kept, path }: { readonly kept: number; readonly path: string },
  terminal: Terminal,
): Result<void, string> {
  terminal.out(`imported ${counted(pets, "pet")}`);
  if (stopped !== undefined) {
    const advice = `Everything before line ${nextLine} is done: go on with --from-line ${nextLine}.`;
    return err(`the import stopped: ${stopped}${canGoOn ? ` ${advice}` : ""}`);
  }
  if (bad === 0) return ok();
  const inPath = `kept in ${path}`;
  const where =
    kept === bad ? `: ${inPath}` : `: ${kept.toLocaleString("en-US")} of them ${inPath}`;
  return err(`${counted(bad, "line")} could not be imported${kept === 0 ? "" : where}`);
}
