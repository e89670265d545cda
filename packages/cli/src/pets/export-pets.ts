import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  PAGE_LIMIT,
  systemRandom,
  type Pet,
  type PetStatus,
  type TrustedPets,
} from "@petstore/core";
import { encodePet } from "@petstore/http-adapter";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError, describeStoreError } from "../describe-error.js";
import { openExistingStore, withStore } from "../open-store.js";
import { listenForStop } from "../stop-signal.js";
import { counted, createProgress, type Streams, type Terminal } from "../terminal.js";
import { formatOf, type Format } from "./entries.js";

/** The options of `petstore pets export`. */
export interface ExportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly status?: PetStatus;
  readonly force?: true;
}

/**
 * Exports the pets of the store: to standard output for `-`, to an existing pipe or device, or to a new
 * file, which gets its name when it is complete.
 */
export async function exportPets(
  path: string,
  { database, format, status, force }: ExportOptions,
  terminal: Terminal,
  { stdout, stderr }: Streams,
): Promise<Result<void, string>> {
  if (path !== "-" && isFileOfDatabase(database, path)) {
    return err(`cannot write ${path}: it is a file of the database`);
  }
  const progress = createProgress(stderr);
  let pets = 0;
  const onPage = (count: number): void => {
    pets += count;
    progress(counted(pets, "pet"));
  };
  const encoding = ENCODINGS[formatOf(format, path)];
  const exported = await withStore(openExistingStore(database), async ({ trusted }) => {
    const text = encodePages(trusted, status, encoding, onPage);
    const written = await write(text, path, force === true, stdout);
    return written.mapErr((message) => ({ message }));
  });
  progress("");
  return exported.map(() => terminal.error(`exported ${counted(pets, "pet")}`));
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

/** Encodes page after page, in ascending order of id. Throws if the store fails, to end the pipeline. */
async function* encodePages(
  store: TrustedPets,
  status: PetStatus | undefined,
  { heading, encode }: Encoding,
  onPage: (pets: number) => void,
): AsyncIterable<string> {
  if (heading !== "") yield heading;
  let after: bigint | undefined;
  do {
    const page = await store.listPets({ limit: PAGE_LIMIT.maximum, status, after });
    if (page.isErr()) throw new Error(describeStoreError(page.error));
    const { pets, next } = page.value;
    yield pets.map(encode).join("");
    onPage(pets.length);
    after = next;
  } while (after !== undefined);
}

async function write(
  text: AsyncIterable<string>,
  path: string,
  mayReplace: boolean,
  stdout: Writable,
): Promise<Result<void, string>> {
  try {
    const existing = await stat(path).catch(() => undefined);
    if (path === "-") await pipeline(text, stdout);
    // A pipe or a device. Node reports a directory.
    else if (existing?.isFile() === false)
      await pipeline(text, createWriteStream(path, { flags: "a" }));
    else if (existing === undefined || mayReplace) return await writeFile(text, path);
    else return err(`${path} already exists (--force replaces it)`);
    return ok();
  } catch (error) {
    const name = path === "-" ? "to standard output" : path;
    return err(`cannot write ${name}: ${describeFileError(error)}`);
  }
}

/** Writes a file that gets its name when it is complete. A link stays, and its target is replaced. */
async function writeFile(text: AsyncIterable<string>, path: string): Promise<Result<void, string>> {
  const target = await realpath(path).catch(() => path);
  // Two exports to the same path must not write to the same file.
  const unfinished = `${target}.${Buffer.from(systemRandom(6)).toString("hex")}.unfinished`;
  const stop = listenForStop();
  try {
    await pipeline(text, createWriteStream(unfinished, { flush: true }), { signal: stop.signal });
    await rename(unfinished, target);
    return ok();
  } catch (error) {
    if (stop.signal.aborted) return err("the export received a signal to stop");
    throw error;
  } finally {
    stop.end();
    await rm(unfinished, { force: true });
  }
}
