import { addAbortSignal } from "node:stream";
import { Command, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { openSource } from "../files/open-file.js";
import { openStorage, withStore } from "../open-store.js";
import { databaseOption, example, fileName, wholeNumber } from "../options.js";
import { counted, createProgress, type CommandIO } from "../terminal.js";
import { addGroup, importGroup, withIds, type Added, type Tally } from "./add-pets.js";
import { COLUMNS } from "./csv-columns.js";
import { formatOf, formatOption, type Format } from "./format.js";
import { readEntries, type Entry } from "./read-pets.js";
import { openRejects, type Rejects } from "./rejects.js";

interface ImportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly rejects?: string;
  readonly fromLine: number;
  readonly again?: true;
  readonly keepIds?: true;
}

export function importCommand(io: CommandIO): Command {
  return new Command("import")
    .description("Add the pets in a file to the store, under new ids.")
    .argument("<file>", "the file to read; - for standard input")
    .addOption(databaseOption())
    .addOption(formatOption())
    .option("--rejects <file>", REJECTS_HELP, fileName)
    .option("--from-line <n>", FROM_LINE_HELP, wholeNumber(1), 1)
    .option("--again", "import lines a second time that an earlier import has added")
    .addOption(new Option("--keep-ids", KEEP_IDS_HELP).conflicts("again"))
    .addHelpText("after", FORMATS_HELP + example("petstore pets import pets.csv"))
    .action(async (file: string, options: ImportOptions) => {
      (await importPets(file, options, io)).mapErr(io.fail);
    });
}

const KEEP_IDS_HELP =
  "keep the ids that `pets export` has written; a pet that is there already is skipped, and stops the import if it differs";

const FROM_LINE_HELP = "resume at this line, where an earlier import stopped";

const REJECTS_HELP =
  "write the lines that cannot be imported, unchanged, to this new file; with --from-line it may exist";

const FORMATS_HELP = `
Formats:
  ndjson  one JSON object per line, such as {"name":"Rex","categoryId":7,"status":"sold"}
  csv     a heading with the columns ${COLUMNS}, then one pet per record
Other fields and columns are ignored, also ids without --keep-ids, and so are blank lines. Lines that cannot be
imported are reported with their numbers: the first 20, then a count. The exit code is 0 only if all
lines were imported. The command may be repeated: lines imported in the last 24 hours are skipped.
`;

async function importPets(
  path: string,
  options: ImportOptions,
  { terminal, streams, stop, report }: CommandIO,
): Promise<Result<void, string>> {
  const { database, fromLine, format } = options;
  const source = await openSource(path, streams.stdin, stop.signal);
  if (source.isErr()) return err(source.error);
  const { stream, stats, fraction } = source.value;
  const isTyped = path === "-" && streams.stdin.isTTY === true;
  const progress = createProgress(streams.stderr, isTyped);
  const list = (line: string): void => {
    progress("");
    terminal.error(line);
  };
  const inUse = { database, input: stats };
  const rejects = await openRejects(options.rejects, inUse, fromLine > 1, list);
  if (rejects.isErr()) {
    stream.destroy();
    return err(rejects.error);
  }
  const tally = { pets: 0, linesThere: 0, linesExpired: 0, nextLine: fromLine, isOpenEnded: false };
  // A signal may come before the stream is read, which then fails.
  const chunks = addAbortSignal(stop.signal, stream).on("error", () => undefined);
  const entries = readEntries(formatOf(format, path), chunks, () => (tally.isOpenEnded = true));
  const imported = await withStore(openStorage(database, report), async (storage) => {
    const add = options.keepIds
      ? (group: readonly Entry[]) => importGroup(storage, group, tally)
      : (group: readonly Entry[]) => addGroup(storage, group, options.again === true, tally);
    const read = options.keepIds ? withIds(entries) : entries;
    const result = await importEntries(read, rejects.value, add, tally, () =>
      progress(counted(tally.pets, "pet"), fraction()),
    );
    progress("");
    terminal.out(describe(tally));
    // The same command can then be run again.
    if (result.isErr() && tally.pets + tally.linesThere === 0) tally.nextLine = fromLine;
    return result.mapErr((reason) => ({ message: describeStop(reason, tally, fromLine) }));
  });
  stream.destroy();
  const isDone = imported.isOk() || tally.nextLine > fromLine;
  const summary = await rejects.value.close(isDone);
  if (imported.isErr()) {
    if (isDone && summary !== undefined) report(summary);
    return err(imported.error);
  }
  if (tally.isOpenEnded) report(OPEN_END);
  return summary === undefined ? ok() : err(summary);
}

const OPEN_END =
  "the last line has no line break: if the file was cut off there, its pet may be incomplete";

async function importEntries(
  entries: AsyncIterable<readonly Entry[]>,
  rejects: Rejects,
  add: (group: readonly Entry[]) => Added,
  tally: Tally,
  onGroup: () => void,
): Promise<Result<void, string>> {
  try {
    for await (const group of entries) {
      const wanted = group.filter(({ first }) => first >= tally.nextLine);
      const written = await rejects.write(wanted);
      if (written.isErr()) return written;
      const added = await add(wanted);
      const failed = added.isErr() ? wanted[added.error.at] : undefined;
      tally.nextLine = failed?.first ?? (wanted.at(-1)?.last ?? tally.nextLine - 1) + 1;
      await rejects.settle(tally.nextLine);
      if (added.isErr()) return err(added.error.reason);
      if (wanted.length > 0) onGroup();
    }
    return ok();
  } catch (error) {
    return err(describeFileError(error));
  }
}

function describe({ pets, linesThere, linesExpired }: Tally): string {
  const parts = [`imported ${counted(pets, "pet")}`];
  if (linesThere > 0)
    parts.push(`${counted(linesThere, "line")} ${linesThere === 1 ? "was" : "were"} there already`);
  if (linesExpired > 0)
    parts.push(
      `${counted(linesExpired, "line")} of these for over 24 hours: they may be forgotten at any time, and a repeated import would then add them again`,
    );
  return parts.join("; ");
}

function describeStop(reason: string, { nextLine }: Tally, fromLine: number): string {
  const stopped = `the import stopped: ${reason.replace(/\.$/, "")}.`;
  if (nextLine === fromLine) return stopped;
  return `${stopped} Everything before line ${nextLine} is done: resume with --from-line ${nextLine}.`;
}
