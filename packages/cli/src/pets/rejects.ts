import { existsSync } from "node:fs";
import { appendFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { counted } from "../terminal.js";
import { LINE_FEED, lineCount, LONGEST, type Entry } from "./read-pets.js";

/** Reports entries that cannot be imported: the first ones are listed, and all are written to a file. */
export interface Rejects {
  /** Reports the entries that have no pet. `Err` says why they cannot be written; then no entry is in the file. */
  add(entries: readonly Entry[]): Promise<Result<void, string>>;
  /** Completes the file, or removes it if it is empty. Resolves to a summary if entries were reported. */
  close(): Promise<string | undefined>;
}

/**
 * Opens the file for rejected entries, if there is a path. `Err` says why it cannot be written.
 *
 * @param inUse the files that it must not be.
 * @param resumes whether the file may exist.
 * @param list prints a line.
 */
export async function openRejects(
  path: string | undefined,
  inUse: { readonly database: string; readonly input: string },
  resumes: boolean,
  list: (line: string) => void,
): Promise<Result<Rejects, string>> {
  if (path === undefined) return ok(createRejects(undefined, list));
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(inUse.database, path)) return failed("it is a file of the database");
  if (resolve(path) === resolve(inUse.input)) return failed("it is the file that is imported");
  if (!resumes && existsSync(path)) return failed("it already exists");
  // If the process is killed, the same command can be run again, because the file has another name.
  const writtenTo = resumes ? path : `${path}.unfinished`;
  try {
    await writeFile(writtenTo, "", { flag: resumes ? "a" : "w" });
    return ok(createRejects({ path, writtenTo }, list));
  } catch (error) {
    return failed(describeFileError(error));
  }
}

/** The name of the file when it is complete, and until then. */
type Names = Readonly<Record<"path" | "writtenTo", string>>;

/** The number of entries that are listed. */
const MOST_LISTED = 20;

function createRejects(names: Names | undefined, list: (line: string) => void): Rejects {
  let [lines, listed, unlisted] = [0, 0, 0];
  return {
    add: async (entries) => {
      const appended = names === undefined ? ok() : await append(names, entries);
      if (appended.isErr()) return appended;
      for (const entry of entries) {
        const { first, last, pet } = entry;
        if (pet.isOk()) continue;
        lines += lineCount(entry);
        listed += 1;
        if (listed > MOST_LISTED) unlisted += lineCount(entry);
        else list(`${first === last ? `line ${first}` : `lines ${first}–${last}`}: ${pet.error}`);
      }
      return ok();
    },
    close: async () => {
      const written = names === undefined ? "" : await complete(names);
      if (unlisted > 0) list(`… and ${counted(unlisted, "more line")}`);
      if (lines === 0) return undefined;
      return `${counted(lines, "line")} could not be imported${written}`;
    },
  };
}

/** Writes rejected entries unchanged, below their heading. Those that are too long are left out. */
async function append(
  { path, writtenTo }: Names,
  entries: readonly Entry[],
): Promise<Result<void, string>> {
  const kept = entries.filter(({ pet, bytes }) => pet.isErr() && bytes.length <= LONGEST);
  const [first] = kept;
  if (first === undefined) return ok();
  const { size } = await stat(writtenTo);
  const lines = kept.flatMap(({ bytes }) => [bytes, LINE_FEED]);
  const text = Buffer.concat([...(size === 0 ? [first.heading] : []), ...lines]);
  try {
    await appendFile(writtenTo, text);
    return ok();
  } catch (error) {
    // Otherwise the next line would be appended to part of this one.
    await truncate(writtenTo, size).catch(() => undefined);
    return err(`cannot write rejected lines to ${path}: ${describeFileError(error)}`);
  }
}

/** Gives the file its name, or removes it if it is empty. Returns what to say of it. */
async function complete({ path, writtenTo }: Names): Promise<string> {
  const { size } = await stat(writtenTo);
  if (size === 0) await rm(writtenTo);
  else await rename(writtenTo, path);
  return size === 0 ? "" : `: see ${path}`;
}
