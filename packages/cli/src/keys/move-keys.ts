import { NO_USAGE, type KeyWithUsage, type Storage, type StorageFailure } from "@petstore/core";
import { Command } from "commander";
import { err, ok, type Result } from "neverthrow";
import * as v from "valibot";
import { describeFileError } from "../describe-error.js";
import { openSource } from "../open-source.js";
import { openExistingStorage, openStorage, withStore } from "../open-store.js";
import { databaseOption, example } from "../options.js";
import { readLines } from "../read-lines.js";
import { counted, type CommandIO } from "../terminal.js";

const EXPORT_HELP = `
Each line is a key as JSON, with its plan, usage and bans. It has the digests of the secrets, and never a
secret. Stop the servers first, so that no request is charged in between.
`;

const IMPORT_HELP = `
The keys keep their ids, secrets, usage and bans: clients go on as before. Keys that are there already stay as
they are, so the command may be repeated. If a line is wrong, nothing is imported.
`;

/** `petstore keys export`: prints all keys, for `petstore keys import` into another database. */
export function exportKeysCommand({ terminal, fail }: CommandIO): Command {
  return new Command("export")
    .description("Print all keys for another store, without their secrets.")
    .addOption(databaseOption())
    .addHelpText("after", EXPORT_HELP + example("petstore keys export > keys.ndjson"))
    .action(async ({ database }: { readonly database: string }) => {
      const exported = await withStore(openExistingStorage(database), (storage) =>
        exportKeys(storage, (line) => terminal.out(line)),
      );
      const problem = await terminal.written();
      if (exported.isErr()) fail(exported.error);
      else if (problem !== undefined) fail(`the keys could not be printed: ${problem}`);
    });
}

/** `petstore keys import`: adds keys that `petstore keys export` has printed. */
export function importKeysCommand(io: CommandIO): Command {
  const { terminal, report, fail } = io;
  return new Command("import")
    .description("Add the keys of another store, with their ids, digests and usage.")
    .argument("<file>", "what `keys export` has printed; - for standard input")
    .addOption(databaseOption())
    .addHelpText("after", IMPORT_HELP + example("petstore keys import keys.ndjson"))
    .action(async (file: string, { database }: { readonly database: string }) => {
      const read = await readKeys(file, io);
      if (read.isErr()) {
        fail(read.error);
        return;
      }
      const keys = read.value;
      const imported = await withStore(openStorage(database, report), (storage) =>
        importKeys(storage, keys),
      );
      imported.match((added) => {
        const there = keys.length - added;
        const note = `; ${counted(there, "key")} ${there === 1 ? "was" : "were"} there already`;
        terminal.out(`imported ${counted(added, "key")}${there === 0 ? "" : note}`);
      }, fail);
    });
}

const PAGE = 1_000;

async function exportKeys(
  { keys }: Storage,
  print: (line: string) => void,
): Promise<Result<void, StorageFailure>> {
  for (let after: string | undefined; ;) {
    const page = await keys.list({ limit: PAGE, after, banned: false });
    if (page.isErr()) return err(page.error);
    for (const { key, usage } of page.value) print(toLine({ ...key, usage }));
    after = page.value.at(-1)?.key.id;
    if (page.value.length < PAGE) return ok();
  }
}

/** JSON without undefined values. */
function toLine(value: object): string {
  return JSON.stringify(value, (_name, each: unknown) => (each === undefined ? null : each));
}

/** Resolves to the number of keys that were added. */
async function importKeys(
  { keys, usage }: Storage,
  moved: readonly KeyWithUsage[],
): Promise<Result<number, StorageFailure>> {
  let added = 0;
  for (const { key, usage: used } of moved) {
    const found = await keys.find(key.id);
    if (found.isErr()) return err(found.error);
    if (found.value === undefined) {
      const inserted = await keys.insert(key);
      if (inserted.isErr()) return err(inserted.error);
      added += 1;
    }
    // An earlier import may have added the key and ended before it stored the usage.
    const updated = await usage.update(key.id, (current) => ({
      next: current?.lastUsedAt === NO_USAGE.lastUsedAt ? used : current,
      result: undefined,
    }));
    if (updated.isErr()) return err(updated.error);
  }
  return ok(added);
}

/** A key with thousands of secrets is shorter than this, in bytes. */
const LONGEST = 1_048_576;

async function readKeys(
  file: string,
  { streams, stop }: CommandIO,
): Promise<Result<readonly KeyWithUsage[], string>> {
  const source = await openSource(file, streams.stdin, stop.signal);
  if (source.isErr()) return err(source.error);
  const { stream } = source.value;
  try {
    return await parseKeys(readLines(stream, LONGEST));
  } catch (error) {
    return err(`cannot read ${file}: ${describeFileError(error)}`);
  } finally {
    // An input that stays open would keep the process alive.
    stream.destroy();
  }
}

async function parseKeys(
  groups: AsyncIterable<readonly Buffer[]>,
): Promise<Result<readonly KeyWithUsage[], string>> {
  const keys: KeyWithUsage[] = [];
  let number = 0;
  for await (const lines of groups) {
    for (const bytes of lines) {
      number += 1;
      const line = bytes.toString();
      if (line.trim() === "") continue;
      const parsed = v.safeParse(lineSchema, line);
      if (!parsed.success) {
        return err(
          `line ${number} is not a key that \`keys export\` has printed: ${whyNot(parsed.issues)}`,
        );
      }
      const { usage, ...key } = parsed.output;
      keys.push({ key, usage });
    }
  }
  return ok(keys);
}

function whyNot([issue]: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  return v.getDotPath(issue) ?? "it is not a JSON object";
}

const text = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((value) => value.isWellFormed() && !value.includes("\0")),
);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const limit = v.pipe(count, v.minValue(1));
const maybe = <Value>(schema: v.GenericSchema<Value>) =>
  v.pipe(
    v.nullable(schema),
    v.transform((value) => value ?? undefined),
  );

const secretSchema = v.strictObject({
  digest: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  hint: text,
  expiresAt: maybe(count),
});

const usageSchema = v.strictObject({
  minuteOpenedAt: count,
  minuteUsed: count,
  dayOpenedAt: count,
  dayUsed: count,
  refusedSince: count,
  refusals: count,
  bans: count,
  bannedAt: count,
  lastUsedAt: count,
});

const lineSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    id: text,
    plan: text,
    limits: v.strictObject({ perMinute: limit, perDay: limit }),
    label: maybe(v.string()),
    createdAt: count,
    expiresAt: maybe(count),
    revokedAt: maybe(count),
    secrets: v.pipe(v.array(secretSchema), v.minLength(1)),
    usage: usageSchema,
  }),
);
