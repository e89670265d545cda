import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import type { Outcome } from "./add-entry.js";
import { LINE_FEED, lineCount, LONGEST_ENTRY, type Entry } from "./entries.js";
import { counted } from "./progress.js";

/** The file for rejected entries. */
export interface RejectsFile {
  /** Its name when it is complete, and until then. */
  readonly path: string;
  readonly writtenTo: string;
  readonly handle: FileHandle;
  size: number;
}

/**
 * Opens the file for rejected entries, if a path is given. `Err` says why it cannot be written. It must not be
 * the imported file or a file of the database, and may exist only if the import resumes.
 */
export async function openRejects(
  path: string | undefined,
  importedFile: string,
  database: string,
  resumes: boolean,
): Promise<Result<RejectsFile | undefined, string>> {
  if (path === undefined) return ok(undefined);
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(database, path)) return failed("it is a file of the database");
  const look = (file: string) => stat(file, { bigint: true }).catch(() => undefined);
  const [existing, read] = await Promise.all([look(path), look(importedFile)]);
  const isRead = existing?.ino === read?.ino && existing?.dev === read?.dev;
  if (existing !== undefined && isRead) return failed("it is the file that is imported");
  if (existing !== undefined && !resumes) return failed("it already exists");
  // If the process is killed, the same command can be run again, because the file has another name.
  const writtenTo = resumes ? path : `${path}.unfinished`;
  try {
    const handle = await open(writtenTo, resumes ? "a" : "w");
    const { size } = await handle.stat();
    return ok({ path, writtenTo, handle, size });
  } catch (error) {
    return failed(describeFileError(error));
  }
}

/** The entries that cannot be imported: the first ones are listed, and all are written to the file. */
export interface Rejects {
  /**
   * Lists entries, and writes them unchanged to the file, below the heading if the file is empty. Does
   * not write entries that were too long to keep.
   */
  add(rejected: readonly Outcome[], heading: Buffer | undefined): Promise<Result<void, string>>;
  /** Closes the file, and removes it if it is empty. Resolves to a summary if there is one. */
  close(): Promise<string | undefined>;
}

/** The number of entries that are listed. */
const MOST_LISTED = 20;

/** @param list prints a line. */
export function createRejects(
  file: RejectsFile | undefined,
  list: (line: string) => void,
): Rejects {
  let [lines, listed, unlisted, written] = [0, 0, 0, 0];
  return {
    add: async (rejected, heading) => {
      const kept = rejected
        .map(({ entry }) => entry)
        .filter(({ bytes }) => bytes.length <= LONGEST_ENTRY);
      const appended = file === undefined ? ok() : await append(file, kept, heading);
      if (appended.isOk()) for (const entry of kept) written += lineCount(entry);
      for (const { entry, reason } of rejected) {
        lines += lineCount(entry);
        // Entries that are missing in the file are all listed.
        if (listed < MOST_LISTED || appended.isErr()) {
          list(`${positionOf(entry)}: ${reason}`);
          listed += 1;
        } else unlisted += lineCount(entry);
      }
      return appended;
    },
    close: async () => {
      await file?.handle.close();
      if (file?.size === 0) await rm(file.writtenTo, { force: true });
      else if (file !== undefined) await rename(file.writtenTo, file.path);
      if (unlisted > 0) list(`… and ${counted(unlisted, "more line")}`);
      if (lines === 0) return undefined;
      const summary = `${counted(lines, "line")} could not be imported`;
      if (file === undefined || written === 0) return summary;
      const count = written === lines ? "" : `${written.toLocaleString("en-US")} of them `;
      return `${summary}: ${count}written to ${file.path}`;
    },
  };
}

async function append(
  file: RejectsFile,
  entries: readonly Entry[],
  heading: Buffer | undefined,
): Promise<Result<void, string>> {
  if (entries.length === 0) return ok();
  const records = entries.map(({ bytes }) => bytes);
  if (file.size === 0 && heading !== undefined) records.unshift(heading);
  const text = Buffer.concat(records.flatMap((record) => [record, Buffer.of(LINE_FEED)]));
  try {
    await file.handle.appendFile(text);
    file.size += text.length;
    return ok();
  } catch (error) {
    // Otherwise the next line would be appended to part of this one.
    await file.handle.truncate(file.size).catch(() => undefined);
    const reason = `${describeFileError(error)}; the lines just reported are not in it`;
    return err(`cannot write rejected lines to ${file.path}: ${reason}`);
  }
}

function positionOf({ first, last }: Entry): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}
