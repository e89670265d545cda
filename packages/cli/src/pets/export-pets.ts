import { PAGE_LIMIT, type Pet, type PetStatus, type TrustedPets } from "@petstore/core";
import { encodePet } from "@petstore/http-adapter";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import type { StoreError } from "../describe-error.js";
import { openExistingStore, withStore } from "../open-store.js";
import type { Streams, Terminal } from "../terminal.js";
import { openDestination, type Destination } from "./export-destination.js";
import { counted, formatOf, type Format } from "./pet-file.js";
import { createProgress, type Progress } from "./progress.js";

/** The options of `petstore pets export`. */
export interface ExportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly status?: PetStatus;
  readonly force?: true;
}

/** Exports the pets of the store to a file, or to standard output for `-`. */
export async function exportPets(
  path: string,
  { database, format, status, force }: ExportOptions,
  terminal: Terminal,
  { stdout, stderr }: Streams,
): Promise<Result<void, string>> {
  if (path !== "-" && isFileOfDatabase(database, path)) {
    return err(`cannot write ${path}: it is a file of the database`);
  }
  const opened = await openDestination(path, force === true, stdout);
  if (opened.isErr()) return err(opened.error);
  const destination = opened.value;
  const progress = createProgress(stderr);
  const encoding = ENCODINGS[formatOf(format, path)];
  const exported = await withStore(openExistingStore(database), ({ trusted }) =>
    writePages(trusted, status, encoding, destination, progress),
  );
  progress.clear();
  const finished = exported.isOk() ? await destination.finish() : ok();
  await destination.close();
  return exported.andThen((pets) =>
    finished.map(() => terminal.error(`exported ${counted(pets, "pet")}`)),
  );
}

interface Encoding {
  readonly heading: string;
  /** Encodes a pet, including the final line feed. */
  readonly encode: (pet: Pet) => string;
}

const ENCODINGS: Readonly<Record<Format, Encoding>> = {
  ndjson: { heading: "", encode: (pet) => `${encodePet(pet)}\n` },
  csv: {
    heading: "id,name,categoryId,status\n",
    encode: ({ id, name, categoryId, status }) =>
      // RFC 4180, section 2, rule 7.
      `${id},"${name.replaceAll('"', '""')}",${categoryId},${status}\n`,
  },
};

/** Writes page after page, in ascending order of id. Resolves to the number of pets. */
async function writePages(
  store: TrustedPets,
  status: PetStatus | undefined,
  { heading, encode }: Encoding,
  destination: Destination,
  progress: Progress,
): Promise<Result<number, StoreError>> {
  let pets = 0;
  let text = heading;
  let after: bigint | undefined;
  do {
    const page = await store.listPets({ limit: PAGE_LIMIT.maximum, status, after });
    if (page.isErr()) return err(page.error);
    text += page.value.pets.map(encode).join("");
    const written = await destination.write(text);
    if (written.isErr()) return err({ message: written.error });
    pets += page.value.pets.length;
    progress.show(undefined, counted(pets, "pet"));
    text = "";
    after = page.value.next;
  } while (after !== undefined);
  return ok(pets);
}
