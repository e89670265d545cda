import type { PetStatus } from "@petstore/core";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ResultAsync, type Result } from "neverthrow";
import type { Streams } from "../streams.js";
import type { Terminal } from "../terminal.js";
import { openExistingStore, withStore } from "../with-store.js";
import { counted } from "./counted.js";
import { exportPets } from "./export-pets.js";
import { formatOf, type FormatName } from "./pet-formats.js";
import { createProgress } from "./progress.js";
import { openSink } from "./sink.js";

/** What `petstore pets export` takes. */
export interface ExportOptions {
  readonly database: string;
  readonly format?: FormatName;
  readonly status?: PetStatus;
  readonly force?: true;
}

/** Exports the store into a file, or to the standard output. `Err` says why it could not. */
export async function exportFile(
  path: string,
  { database, format, status, force }: ExportOptions,
  terminal: Terminal,
  streams: Streams,
): Promise<Result<void, string>> {
  if (path !== "-" && isFileOfDatabase(database, path)) {
    return err(`cannot write ${path}: it is a file of the database`);
  }
  const opened = await openSink(path, force === true, streams.stdout);
  if (opened.isErr()) return err(opened.error);
  const sink = opened.value;
  const progress = createProgress(streams.stderr);
  const plan = {
    format: formatOf(format, path),
    status,
    write: (text: string) => sink.write(text),
    onPage: (pets: number) => progress.show(undefined, counted(pets, "pet")),
  };
  const exported = await withStore(openExistingStore(database), ({ trusted }) =>
    new ResultAsync(exportPets(trusted, plan)).mapErr((message) => ({ message })),
  );
  progress.clear();
  if (exported.isErr()) {
    await sink.abandon();
    return err(exported.error);
  }
  const finished = await sink.finish();
  return finished.map(() => {
    terminal.error(`exported ${counted(exported.value, "pet")}`);
  });
}
