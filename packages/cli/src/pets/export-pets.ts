import { createWriteStream } from "node:fs";
import { lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
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
import type { Streams, Terminal } from "../terminal.js";
import { formatOf, type Format } from "./entries.js";
import { counted, createProgress } from "./progress.js";

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
    // lstat, because a link exists even if its target does not.
    const isTaken = (await lstat(path).catch(() => undefined)) !== undefined;
    if (path === "-") await pipeline(text, stdout);
    else if (existing?.isFile() === false)
      await pipeline(text, createWriteStream(path, { flags: "a" }));
    else if (isTaken && !mayReplace) return err(`${path} already exists (--force replaces it)`);
    else return await writeNewFile(text, path);
    return ok();
  } catch (error) {
    const name = path === "-" ? "to standard output" : path;
    return err(`cannot write ${name}: ${describeFileError(error)}`);
  }
}

/** Writes a file beside the target of a link, so that the link stays and points to the new file. */
async function writeNewFile(
  text: AsyncIterable<string>,
  path: string,
): Promise<Result<void, string>> {
  const target = await realpath(path).catch(() => path);
  // Two exports to the same path must not write to the same file.
  const unfinished = `${target}.${Buffer.from(systemRandom(6)).toString("hex")}.unfinished`;
  const stop = listenForStop();
  try {
    const file = await open(unfinished, "wx");
    await pipeline(text, file.createWriteStream({ flush: true }), { signal: stop.signal });
    await rename(unfinished, target);
    await syncDirectory(dirname(target));
    return ok();
  } catch (error) {
    if (stop.signal.aborted) return err("the export received a signal to stop");
    throw error;
  } finally {
    stop.end();
    await rm(unfinished, { force: true });
  }
}

/** Syncs a directory. Without this, a power failure can lose the new name of a file in it. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
