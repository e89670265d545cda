import { addAbortSignal } from "node:stream";
import { systemClock } from "@petstore/core/internal";
import type { CreationRequest, Storage, StorageError } from "@petstore/core/storage";
import { Command, Option } from "commander";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { openSource } from "../open-file.js";
import { openStorage, withStore } from "../open-store.js";
import { databaseOption, example, fileName, wholeNumber } from "../options.js";
import { counted, createProgress, type CommandIO } from "../terminal.js";
import { COLUMNS, formatOf, formatOption, type Format } from "./formats.js";
import { lineCount, readEntries, type Entry } from "./read-pets.js";
import { MOST_LISTED, openRejects, type Rejects } from "./rejects.js";
import { describe, describeStop, KNOWN_HOURS, type Tally } from "./tally.js";

interface ImportOptions {
  readonly database: string;
  readonly format?: Format;
  readonly rejects?: string;
  readonly fromLine: number;
  readonly again?: boolean;
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
imported are reported with their numbers: the first ${MOST_LISTED}, then a count. The exit code is 0 only if all
lines were imported. The command may be repeated: lines imported in the last ${KNOWN_HOURS} hours are skipped.
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
  const progress = createProgress(streams.stderr, path === "-" && streams.stdin.isTTY === true);
  const list = (line: string): void => {
    progress("");
    terminal.error(line);
  };
  const opened = await openRejects(options.rejects, options, stats, list);
  if (opened.isErr()) {
    stream.destroy();
    return err(opened.error);
  }
  const rejects = opened.value;
  const tally: Tally = { pets: 0, linesThere: 0, linesExpired: 0, nextLine: fromLine };
  // A signal may come before the stream is read, which then fails.
  const chunks = addAbortSignal(stop.signal, stream).on("error", () => undefined);
  const entries = readEntries(formatOf(format, path), chunks, () => (tally.isOpenEnded = true));
  const onGroup = (): void => progress(counted(tally.pets, "pet"), fraction());
  const imported = await withStore(openStorage(database, report), async (storage) => {
    storage.onWarning?.(({ code, message }) => {
      if (LOSSES.includes(code)) tally.loss = message;
    });
    const result = await importEntries(storage, entries, options, rejects, tally, onGroup);
    progress("");
    terminal.out(describe(tally));
    // The same command can then be run again.
    if (tally.loss !== undefined || tally.pets + tally.linesThere === 0) tally.nextLine = fromLine;
    return result.mapErr((reason) => describeStop(reason, tally, fromLine));
  });
  stream.destroy();
  const isDone = imported.isOk() || tally.nextLine > fromLine;
  const summary = await rejects.close(isDone);
  if (imported.isErr()) {
    if (isDone && summary !== undefined) report(summary);
    return err(imported.error);
  }
  if (tally.isOpenEnded) report(OPEN_END);
  return summary === undefined ? ok() : err(summary);
}

/** The warnings after which pets may be missing that were acknowledged. */
const LOSSES: readonly string[] = ["commits_lost", "database_replaced"];
const REPEAT = " Repeat the command: it adds the pets that are missing.";

const OPEN_END =
  "the last line has no line break: if the file was cut off there, its pet may be incomplete";

async function importEntries(
  storage: Storage,
  entries: AsyncIterable<readonly Entry[]>,
  { keepIds, again = false }: ImportOptions,
  rejects: Rejects,
  tally: Tally,
  onGroup: () => void,
): Promise<Result<void, string>> {
  const add = (wanted: readonly Entry[], into: Tally) =>
    keepIds ? importGroup(storage, wanted, into) : addGroup(storage, wanted, again, into);
  let last: Entry | undefined;
  try {
    for await (const group of entries) {
      const unfinished = group.filter(({ first }) => first >= tally.nextLine);
      const wanted = keepIds ? unfinished.map(withId) : unfinished;
      const written = await rejects.write(wanted);
      if (written.isErr()) return written;
      const added = await add(wanted, tally);
      const failed = added.isErr() ? wanted[added.error.at] : undefined;
      const end = wanted.at(-1);
      if (failed) tally.nextLine = failed.first;
      else if (end) tally.nextLine = end.last + 1;
      await rejects.settle(tally.nextLine);
      if (tally.loss !== undefined) return err(`${tally.loss}${again ? "" : REPEAT}`);
      if (added.isErr()) return err(added.error.reason);
      if (wanted.length > 0) onGroup();
      last = wanted.findLast(({ pet }) => pet.isOk()) ?? last;
    }
    if (again || last === undefined) return ok();
    // The input may end long after its last line, which the database may have lost meanwhile.
    const found = await add([last], { ...tally });
    return tally.loss === undefined
      ? found.mapErr(({ reason }) => reason)
      : err(`${tally.loss}${REPEAT}`);
  } catch (error) {
    return err(describeFileError(error));
  }
}

function withId(entry: Entry): Entry {
  return { ...entry, pet: entry.pet.andThen((pet) => (pet.id === undefined ? NO_ID : ok(pet))) };
}

const NO_ID = err("Its id is not an integer from 1 to 2^63 − 1.");

/** Adds the pets of a group under their own ids, all or none. `Err` says at which entry it stopped, and why. */
async function importGroup({ pets }: Storage, entries: readonly Entry[], tally: Tally) {
  const moved = entries.flatMap((entry) => {
    if (entry.pet.isErr() || entry.pet.value.id === undefined) return [];
    return { entry, pet: { ...entry.pet.value, id: entry.pet.value.id } };
  });
  if (moved.length === 0) return ok();
  const imported = await pets.import(moved.map(({ pet }) => pet));
  if (imported.isErr()) return err({ at: 0, reason: imported.error.message });
  const { added, conflict } = imported.value;
  // A line may also differ from an earlier one, which has the same id.
  const other = moved.findLast(({ pet }) => pet.id === conflict)?.entry;
  if (other) return err({ at: 0, reason: `line ${other.first} has the id of a pet that differs` });
  tally.pets += added;
  tally.linesThere += moved.length - added;
  return ok();
}

/** How many pets every storage adds in one transaction. */
const ONE_TRANSACTION = 250;

/**
 * Adds the pets of a group under new ids; the storage commits them together. With `again`, lines are not remembered: no
 * line after a failed one may be added, or an import that resumes there would add it twice. `Err` is the first failure.
 */
async function addGroup(storage: Storage, entries: readonly Entry[], again: boolean, tally: Tally) {
  const count = again ? ONE_TRANSACTION : entries.length;
  for (let start = 0; start < entries.length; start += count) {
    const part = entries.slice(start, start + count);
    const added = await Promise.all(part.map((entry) => addPet(storage, entry, again, tally)));
    const at = added.findIndex((result) => result.isErr());
    const failure = added[at];
    if (!failure?.isErr()) continue;
    const { message, mayBeStored } = failure.error;
    if (again && mayBeStored) tally.unsureLine = part.at(-1)?.last;
    return err({ at: start + at, reason: message });
  }
  return ok();
}

/** Adds the pet of an entry, if it has one and no earlier import has added it. With `again`, adds it in any case. */
async function addPet(
  { pets, clock = systemClock }: Storage,
  entry: Entry,
  again: boolean,
  tally: Tally,
): Promise<Result<void, StorageError>> {
  if (entry.pet.isErr()) return ok();
  const now = clock.now();
  const created = again
    ? (await pets.create(entry.pet.value)).map(() => ({ replayed: false, expiresAt: Infinity }))
    : await pets.createOnce(entry.pet.value, requestOf(entry, now));
  if (created.isErr()) return err(created.error);
  const { replayed, expiresAt } = created.value;
  if (!replayed) tally.pets += 1;
  else tally.linesThere += lineCount(entry);
  if (expiresAt <= now) tally.linesExpired += lineCount(entry);
  return ok();
}

const KNOWN = KNOWN_HOURS * 3_600_000;
/** How long a line is kept, and found, if only imports add lines, in milliseconds. */
const KEPT = 30 * KNOWN;

/** Identifies the same text in the same line of any file, under the same heading. */
function requestOf({ first, headingHash, bytes }: Entry, now: number): CreationRequest {
  const digest = headingHash.copy().update(bytes).digest("base64url").slice(0, 16);
  // The earlier time also finds lines that have expired, as long as they are not removed.
  const times = { now: now - KEPT, expiresAt: now + KNOWN };
  // In the order of the lines: with random tokens, a million lines take twice as long.
  return { token: `line ${String(first).padStart(10, "0")} ${digest}`, fingerprint: "", ...times };
}
