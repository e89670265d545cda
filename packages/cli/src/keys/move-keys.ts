import { isUtf8 } from "node:buffer";
import type { RateLimits } from "@petstore/core";
import { areRateLimits, isDigest, isKeyHint, isKeyId, isKeyLabel } from "@petstore/core/internal";
import type { EachField } from "@petstore/core/internal";
import { NO_USAGE, type Storage } from "@petstore/core/storage";
import type { KeyWithUsage, StoredApiKey, Usage } from "@petstore/core/storage";
import { Command } from "commander";
import { err, ok, type Result } from "neverthrow";
import * as v from "valibot";
import { describeFileError } from "../describe-error.js";
import { openSource, readLines } from "../open-file.js";
import { openExistingStorage, openStorage, withStore } from "../open-store.js";
import { databaseOption, example } from "../options.js";
import { alsoThere, counted, createProgress, toJson } from "../terminal.js";
import type { CommandIO, Progress, Terminal } from "../terminal.js";

const EXPORT_HELP = `
Each line is a key as JSON, with its plan, usage and bans. It has the digests of the secrets, and never a
secret. Stop the servers first, so that no request is charged in between.
`;

const IMPORT_HELP = `
The keys keep their ids, secrets, usage and bans: clients go on as before. Keys that are there already stay as
they are, so the command may be repeated. All others are imported in one transaction, or, if a line is wrong,
none. It takes a second or two for 20,000 keys, and locks a SQLite file meanwhile: its servers can neither
charge nor write.
`;

export function exportKeysCommand({ terminal, fail }: CommandIO): Command {
  return new Command("export")
    .description("Print all keys for another store, without their secrets.")
    .addOption(databaseOption())
    .addHelpText("after", EXPORT_HELP + example("petstore keys export > keys.ndjson"))
    .action(async ({ database }: { readonly database: string }) => {
      const run = (storage: Storage) => exportKeys(storage, terminal);
      (await withStore(openExistingStorage(database), run)).mapErr(fail);
    });
}

export function importKeysCommand(io: CommandIO): Command {
  const { terminal, report, fail } = io;
  return new Command("import")
    .description("Add the keys of another store, with their ids, digests and usage.")
    .argument("<file>", "what `keys export` has printed; - for standard input")
    .addOption(databaseOption())
    .addHelpText("after", IMPORT_HELP + example("petstore keys import keys.ndjson"))
    .action(async (file: string, { database }: { readonly database: string }) => {
      const { stdin, stderr } = io.streams;
      const progress = createProgress(stderr, file === "-" && stdin.isTTY === true);
      const read = await readKeys(file, io, progress);
      progress("");
      if (read.isErr()) {
        fail(read.error);
        return;
      }
      const keys = read.value;
      const imported = await withStore(openStorage(database, report), (storage) => {
        progress(`adding ${counted(keys.length, "key")}`);
        return importKeys(storage, keys);
      });
      progress("");
      imported.match((added) => {
        const there = alsoThere(keys.length - added, "key");
        terminal.out(`imported ${counted(added, "key")}${there}`);
      }, fail);
    });
}

const PAGE = 1_000;

async function exportKeys({ keys }: Storage, terminal: Terminal): Promise<Result<void, string>> {
  let after: string | undefined;
  do {
    const page = await keys.list({ limit: PAGE, after, banned: false });
    if (page.isErr()) return err(page.error.message);
    for (const { key, usage } of page.value) terminal.out(toJson({ ...key, usage }));
    // So that no more than a page is kept for a slow reader.
    if ((await terminal.written(true)) !== undefined) return ok();
    after = page.value.length < PAGE ? undefined : page.value.at(-1)?.key.id;
  } while (after !== undefined);
  return ok();
}

interface Line extends KeyWithUsage {
  readonly number: number;
}

/** Resolves to the number of keys that were added: all that were not there, or none. */
async function importKeys({ keys, usage }: Storage, lines: readonly Line[]) {
  const added = await keys.import(lines.map((line) => ({ key: line.key, usage: line.usage })));
  if (added.isOk()) return ok(added.value);
  // Finds the line that the storage has refused, which has a secret of another key.
  for (const { key, number } of lines) {
    for (const { digest } of key.secrets) {
      const found = await usage.findByDigest(digest);
      if (found.isErr()) return err(added.error.message);
      const owner = found.value?.key.id;
      if (owner === undefined) continue;
      // A key that is there stays as it is.
      const own = await keys.find(key.id);
      if (own.isOk() && own.value === undefined)
        return err(`line ${number} has a secret of the key ${owner}, which is there`);
    }
  }
  return err(added.error.message);
}

/** A key with thousands of secrets is shorter than this, in bytes. */
const LONGEST = 1_048_576;

async function readKeys(file: string, { streams, stop }: CommandIO, progress: Progress) {
  const source = await openSource(file, streams.stdin, stop.signal);
  if (source.isErr()) return err(source.error);
  const { stream, fraction } = source.value;
  const onGroup = (count: number): void => progress(`${counted(count, "key")} read`, fraction());
  try {
    return await parseKeys(readLines(stream, LONGEST), onGroup);
  } catch (error) {
    return err(`cannot read ${file}: ${describeFileError(error)}`);
  }
}

async function parseKeys(
  groups: AsyncIterable<readonly Buffer[]>,
  onGroup: (keys: number) => void,
): Promise<Result<readonly Line[], string>> {
  const keys: Line[] = [];
  const lineOf = new Map<string, number>();
  let number = 0;
  for await (const lines of groups) {
    for (const bytes of lines) {
      number += 1;
      const line = bytes.toString();
      if (line.trim() === "") continue;
      if (!isUtf8(bytes)) return err(`line ${number} is not UTF-8`);
      const parsed = v.safeParse(lineSchema, line);
      if (!parsed.success) {
        const why = v.getDotPath(parsed.issues[0]) ?? "it is not a JSON object";
        return err(`line ${number} is not a key that \`keys export\` has printed: ${why}`);
      }
      const { usage, ...key } = parsed.output;
      for (const each of [key.id, ...key.secrets.map(({ digest }) => digest)]) {
        const other = lineOf.get(each);
        if (other !== undefined)
          return err(`line ${number} has the id or a secret of line ${other}`);
        lineOf.set(each, number);
      }
      keys.push({ key, usage, number });
    }
    onGroup(keys.length);
  }
  return ok(keys);
}

/** Plans of hosts have any names; no terminal has to interpret them, and every database can store them. */
const planSchema = v.pipe(v.string(), v.regex(/^[^\p{Cc}\p{Cs}]+$/u));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Null, but not missing: an incomplete line must not turn a revoked key into an active one. */
function maybe<Value>(schema: v.GenericSchema<Value>) {
  const withoutNull = v.transform((value: Value | null) => value ?? undefined);
  return v.pipe(v.nullable(schema), withoutNull);
}

const secretSchema = v.strictObject({
  digest: v.pipe(v.string(), v.check(isDigest)),
  hint: v.pipe(v.string(), v.check(isKeyHint)),
  expiresAt: maybe(count),
} satisfies EachField<Record<keyof StoredApiKey["secrets"][number], unknown>>);

/** What an export from before a window lacks is as in a key that was never used. */
const usageSchema = v.pipe(
  v.record(v.picklist(Object.keys(NO_USAGE)), count),
  v.transform((usage): Usage => ({ ...NO_USAGE, ...usage })),
);

const lineSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    id: v.pipe(v.string(), v.check(isKeyId)),
    plan: planSchema,
    limits: v.pipe(v.record(v.string(), maybe(v.number())), v.custom<RateLimits>(areRateLimits)),
    label: maybe(v.custom<string>(isKeyLabel)),
    createdAt: count,
    expiresAt: maybe(count),
    revokedAt: maybe(count),
    secrets: v.pipe(v.array(secretSchema), v.minLength(1)),
    usage: usageSchema,
  } satisfies EachField<Record<keyof StoredApiKey | "usage", unknown>>),
);
