import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { counted } from "../terminal.js";
import type { Outcome } from "./add-entry.js";
import { LINE_FEED, lineCount } from "./entries.js";

/** Reports entries that cannot be imported: the first ones are listed, and all are written to a file. */
export interface Rejects {
  /** Writes entries to the file unchanged, unless they are too long, below the heading if it is empty. */
  add(rejected: readonly Outcome[], heading: Buffer | undefined): Promise<Result<void, string>>;
  /** Closes the file, and removes it if it is empty. Resolves to a summary if there is one. */
  close(): Promise<string | undefined>;
}

interface RejectsOptions {
  /** The file for rejected entries, if there is one. */
  readonly path: string | undefined;
  readonly importedFile: string;
  readonly database: string;
  /** Whether the file may exist. */
  readonly resumes: boolean;
}

/**
 * Opens the file for rejected entries. `Err` says why it cannot be written.
 *
 * @param list prints a line.
 */
export async function openRejects(
  { path, importedFile, database, resumes }: RejectsOptions,
  list: (line: string) => void,
): Promise<Result<Rejects, string>> {
  if (path === undefined) return ok(createRejects(undefined, list));
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(database, path)) return failed("it is a file of the database");
  const existing = await stat(path).catch(() => undefined);
  const imported = await stat(importedFile).catch(() => undefined);
  if (existing !== undefined) {
    const isImported = existing.ino === imported?.ino && existing.dev === imported.dev;
    if (isImported) return failed("it is the file that is imported");
    if (!resumes) return failed("it already exists");
  }
  // If the process is killed, the same command can be run again, because the file has another name.
  const writtenTo = resumes ? path : `${path}.unfinished`;
  try {
    const handle = await open(writtenTo, resumes ? "a" : "w");
    const { size } = await handle.stat();
    return ok(createRejects({ path, writtenTo, handle, size }, list));
  } catch (error) {
    return failed(describeFileError(error));
  }
}

/** The file for rejected entries. */
interface RejectsFile {
  /** Its name when it is complete, and until then. */
  readonly path: string;
  readonly writtenTo: string;
  readonly handle: FileHandle;
  size: number;
}

/** The number of entries that are listed. */
const MOST_LISTED = 20;

function createRejects(file: RejectsFile | undefined, list: (line: string) => void): Rejects {
  let [lines, listed, unlisted, written] = [0, 0, 0, 0];
  return {
    add: async (rejected, heading) => {
      const kept = rejected.filter(({ entry }) => entry.bytes.length > 0);
      const appended = file === undefined ? ok() : await append(file, kept, heading);
      if (appended.isOk()) for (const { entry } of kept) written += lineCount(entry);
      for (const { entry, reason } of rejected) {
        const { first, last } = entry;
        lines += lineCount(entry);
        // Entries that are missing in the file are all listed.
        if (listed < MOST_LISTED || appended.isErr()) {
          list(`${first === last ? `line ${first}` : `lines ${first}–${last}`}: ${reason}`);
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
  rejected: readonly Outcome[],
  heading: Buffer | undefined,
): Promise<Result<void, string>> {
  if (rejected.length === 0) return ok();
  const records = rejected.map(({ entry }) => entry.bytes);
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
