import { constants, createReadStream, createWriteStream, type BigIntStats } from "node:fs";
import { open, realpath, rm, writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { PAGE_LIMIT, petStatuses, type TrustedPets } from "@petstore/core";
import type { PetFilter } from "@petstore/core/internal";
import { encodePet } from "@petstore/http-adapter";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { Command, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeFileError, describeStoreError } from "../describe-error.js";
import { complete, createUnfinished, fileAt, modeFrom } from "../new-file.js";
import { openUnlessStopped } from "../open-file.js";
import { openExistingStore, withStore } from "../open-store.js";
import { databaseOption, example, isPostgres, nameOf } from "../options.js";
import { counted, createProgress, escapeUnprintable, fileOf, isClosedPipe } from "../terminal.js";
import type { CommandIO, Streams } from "../terminal.js";
import { csvHeading, encodeRecord, formatOf, formatOption, type Format } from "./formats.js";

interface ExportOptions extends PetFilter {
  readonly database: string;
  readonly format?: Format;
  readonly overwrite?: boolean;
}

const filterOptions: Record<keyof PetFilter, Option> = {
  status: new Option("--status <status>", "only pets with this status").choices(petStatuses),
};

export function exportCommand(io: CommandIO): Command {
  const command = new Command("export")
    .description("Write the pets of the store to a file, in ascending order of id.")
    .argument("[file]", "the file to write; - for standard output", "-")
    .addOption(databaseOption())
    .addOption(formatOption())
    .option("--overwrite", "replace an existing file, but never a database")
    .addHelpText("after", example("petstore pets export pets.csv --status sold"))
    .action(async (file: string, options: ExportOptions) => {
      (await exportPets(file, options, io)).mapErr(io.fail);
    });
  for (const option of Object.values(filterOptions)) command.addOption(option);
  return command;
}

/** Writes to standard output for `-`, to an existing pipe or device, or to a new file. */
async function exportPets(
  path: string,
  options: ExportOptions,
  { terminal, streams: { stdout, stderr }, stop }: CommandIO,
): Promise<Result<void, string>> {
  const { database, format } = options;
  const isStdout = path === "-";
  if (!isStdout && isFileOfDatabase(database, path)) {
    return err(`cannot write ${path}: it is a file of the database`);
  }
  const isShown = isStdout
    ? stdout.isTTY === true
    : (await fileAt(path))?.isCharacterDevice() === true;
  const progress = createProgress(stderr, isShown);
  let pets = 0;
  const onPage = (count: number): void => {
    pets += count;
    progress(counted(pets, "pet"));
  };
  const exported = await withStore(openExistingStore(database), ({ trusted }) => {
    const text = encodePets(trusted, options, formatOf(format, path), onPage);
    return write(isShown ? escaped(text) : text, path, options, stdout, stop.signal);
  });
  progress("");
  return exported.map((isRead) => {
    if (isRead) terminal.error(`exported ${counted(pets, "pet")}`);
  });
}

async function* escaped(text: AsyncIterable<string>): AsyncIterable<string> {
  for await (const part of text) yield escapeUnprintable(part);
}

class ReadFailed extends Error {}

async function* encodePets(
  store: TrustedPets,
  filter: PetFilter,
  format: Format,
  onPage: (pets: number) => void,
): AsyncIterable<string> {
  if (format === "csv") yield `${csvHeading}\n`;
  const encode = format === "csv" ? encodeRecord : encodePet;
  let after: bigint | undefined;
  do {
    const page = await store.listPets({ ...filter, limit: PAGE_LIMIT.maximum, after });
    if (page.isErr()) throw new ReadFailed(describeStoreError(page.error));
    const { pets, next } = page.value;
    yield pets.map((pet) => `${encode(pet)}\n`).join("");
    onPage(pets.length);
    after = next;
  } while (after !== undefined);
}

/** Resolves to whether everything was read: a reader of standard output that has closed its pipe wants no more. */
async function write(
  text: AsyncIterable<string>,
  path: string,
  options: ExportOptions,
  stdout: Streams["stdout"],
  signal: AbortSignal,
): Promise<Result<boolean, string>> {
  const isStdout = path === "-";
  try {
    const existing = isStdout ? undefined : await fileAt(path);
    const isFile = existing?.isFile() === true || existing?.isSymbolicLink() === true;
    if (isStdout) await pipeline(text, outputTo(stdout), { signal });
    else if (existing && !isFile) await writeInto(text, path, existing, signal);
    else if (existing && !options.overwrite)
      return err(`${path} already exists (--overwrite replaces it)`);
    else if (existing && (await isDatabase(path)))
      return err(`cannot write ${path}: it is a database`);
    else await writeWhole(text, path, options, signal);
    return ok(true);
  } catch (error) {
    if (error instanceof ReadFailed)
      return err(`cannot read the database ${nameOf(options.database)}: ${error.message}`);
    if (isStdout && isClosedPipe(error)) return ok(false);
    const where = isStdout ? "to standard output" : path;
    return err(`cannot write ${where}: ${describeFileError(error)}`);
  }
}

async function isDatabase(path: string): Promise<boolean> {
  const start = await readText(createReadStream(path, { end: 15 })).catch(() => "");
  return start === "SQLite format 3\0";
}

/** Writes into a pipe or a device, but not into a file that has taken its place. Node reports a directory. */
async function writeInto(
  text: AsyncIterable<string>,
  path: string,
  stats: BigIntStats,
  signal: AbortSignal,
): Promise<void> {
  const handle = await openUnlessStopped(path, stats, signal, () => open(path, constants.O_WRONLY));
  try {
    if ((await handle.stat()).isFile()) throw new Error("a file has taken its place");
    await writeFile(handle, text, { signal });
  } finally {
    await handle.close();
  }
}

function outputTo(stdout: Streams["stdout"]): Writable {
  const fd = fileOf(stdout);
  return fd === undefined ? stdout : createWriteStream("", { fd, autoClose: false });
}

/** Writes a file that gets its name when it is complete, with the mode of the database. The target of a link is replaced. */
async function writeWhole(
  text: AsyncIterable<string>,
  path: string,
  { database, overwrite = false }: ExportOptions,
  signal: AbortSignal,
): Promise<void> {
  const mode = isPostgres(database) ? undefined : modeFrom(await fileAt(database));
  const target = overwrite ? await realpath(path).catch(() => path) : path;
  const { handle, name } = await createUnfinished(target, mode);
  try {
    await writeFile(handle, text, { signal });
    await handle.sync();
    await complete(name, target, overwrite);
  } finally {
    await handle.close();
    await rm(name, { force: true });
  }
}
