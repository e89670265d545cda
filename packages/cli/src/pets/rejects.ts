import { createReadStream, type BigIntStats } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { complete, createUnfinished, fileAt, isSameFile, linkAt, modeFrom } from "../new-file.js";
import { counted } from "../terminal.js";
import { LINE_FEED, lineCount, LONGEST, type Entry } from "./read-pets.js";

/** Entries that cannot be imported: the first ones are listed, and all are written to a file. */
export type Rejects = ReturnType<typeof createRejects>;

/** The file must be none of those in use. If the import resumes, it may exist, and its lines are kept. */
export async function openRejects(
  path: string | undefined,
  { database, fromLine }: { readonly database: string; readonly fromLine: number },
  input: BigIntStats | undefined,
  list: (line: string) => void,
): Promise<Result<Rejects, string>> {
  if (path === undefined) return ok(createRejects(undefined, list));
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(database, path)) return failed("it is a file of the database");
  if (isSameFile(input, await fileAt(path))) return failed("it is the file that is imported");
  const earlier = await linkAt(path);
  if (earlier && fromLine === 1) return failed("it already exists");
  if (earlier?.isFile() === false) return failed("it is not an ordinary file");
  let file: Unfinished | undefined;
  try {
    // A run that is killed leaves no lines that the next one would repeat.
    file = await createUnfinished(path, modeFrom(earlier ?? input));
    if (earlier) await writeFile(file.handle, createReadStream(path));
    const { size } = await file.handle.stat();
    return ok(createRejects({ ...file, path, earlier, sizeAtStart: size }, list));
  } catch (error) {
    await discard(file);
    return failed(describeFileError(error));
  }
}

type Unfinished = Awaited<ReturnType<typeof createUnfinished>>;

interface RejectsFile extends Unfinished {
  /** Its name when it is complete. */
  readonly path: string;
  /** The file of an earlier import, which it replaces, and the size of its lines in bytes. */
  readonly earlier: BigIntStats | undefined;
  readonly sizeAtStart: number;
}

export const MOST_LISTED = 20;

function createRejects(file: RejectsFile | undefined, list: (line: string) => void) {
  let written: readonly Entry[] = [];
  let size = file?.sizeAtStart ?? 0;
  let lines = 0;
  let listed = 0;
  let unlisted = 0;
  return {
    /** Writes the entries that have no pet. `Err` says why they cannot be written; then none of them is in the file. */
    write: async (entries: readonly Entry[]): Promise<Result<void, string>> => {
      written = entries.filter(({ pet }) => pet.isErr());
      return file === undefined ? ok() : append(file, textOf(written, size), size);
    },
    /** Lists the written entries before this line, where the import continues, and removes the others from the file. */
    settle: async (nextLine: number): Promise<void> => {
      const settled = written.filter(({ first }) => first < nextLine);
      size += textOf(settled, size).length;
      if (settled.length < written.length) await file?.handle.truncate(size);
      for (const entry of settled) {
        const { first, last, pet } = entry;
        if (pet.isOk()) continue;
        lines += lineCount(entry);
        listed += 1;
        if (listed > MOST_LISTED) unlisted += lineCount(entry);
        else list(`${first === last ? `line ${first}` : `lines ${first}–${last}`}: ${pet.error}`);
      }
    },
    /** Completes the file, or removes it if it has no new line or is not kept. Resolves to a summary if lines were listed. */
    close: async (isKept: boolean): Promise<string | undefined> => {
      const isNew = isKept && file !== undefined && size > file.sizeAtStart;
      const where = isNew ? await finish(file) : "";
      if (!isNew) await discard(file);
      if (unlisted > 0) list(`… and ${counted(unlisted, "more line")}`);
      return lines === 0 ? undefined : `${counted(lines, "line")} could not be imported${where}`;
    },
  };
}

/** Returns entries unchanged, below their heading in a new file. Those that are too long are left out. */
function textOf(entries: readonly Entry[], size: number): Buffer {
  const kept = entries.filter(({ bytes }) => bytes.length <= LONGEST);
  const heading = size === 0 ? kept.slice(0, 1).map((entry) => entry.heading) : [];
  return Buffer.concat([...heading, ...kept.flatMap(({ bytes }) => [bytes, LINE_FEED])]);
}

async function append({ handle, path }: RejectsFile, text: Buffer, size: number) {
  try {
    await handle.appendFile(text);
    return ok();
  } catch (error) {
    // Otherwise the file would end with part of a line.
    await handle.truncate(size).catch(() => undefined);
    return err(`cannot write rejected lines to ${path}: ${describeFileError(error)}`);
  }
}

/** Gives the file its name. Returns where the lines are. */
async function finish(file: RejectsFile): Promise<string> {
  const { name, path, earlier, handle } = file;
  try {
    const now = await linkAt(path);
    const isSame = isSameFile(earlier, now) && earlier?.mtimeNs === now?.mtimeNs;
    await complete(name, path, isSame);
    await discard(file);
    return `: see ${path}`;
  } catch (error) {
    await handle.close().catch(() => undefined);
    return `: see ${name}, because ${path} cannot be written: ${describeFileError(error)}`;
  }
}

async function discard(file: Unfinished | undefined): Promise<void> {
  await file?.handle.close().catch(() => undefined);
  if (file) await rm(file.name, { force: true }).catch(() => undefined);
}
