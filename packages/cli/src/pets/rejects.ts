import { access, open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { countLines, LONGEST_ENTRY, LINE_FEED, type Entry } from "./pet-file.js";
import { counted } from "./progress.js";

/** An entry that cannot be imported. */
export interface Rejected {
  readonly entry: Entry;
  readonly reason: string;
}

/** The entries that cannot be imported: the first ones are listed, and all are written to a file. */
export interface Rejects {
  /**
   * Lists entries, and writes them unchanged to the file, below the heading if the file is empty. Does
   * not write entries that were too long to keep.
   */
  add(rejected: readonly Rejected[], heading: Buffer | undefined): Promise<Result<void, string>>;
  /** Closes the file, and removes it if it is empty. Resolves to a summary if there is one. */
  close(): Promise<string | undefined>;
}

interface RejectsOptions {
  /** The file; if left out, nothing is written. */
  readonly path: string | undefined;
  /** Whether the file may exist; then the lines are appended to it. */
  readonly mayExist: boolean;
  /** The file to import and the database. Rejected lines must not be written to either. */
  readonly source: string;
  readonly database: string;
  /** Prints a line. */
  readonly list: (line: string) => void;
}

/** The number of entries that are listed. */
const MOST_LISTED = 20;

/** Opens the file for rejected lines. `Err` says why it cannot be written. */
export async function openRejects(options: RejectsOptions): Promise<Result<Rejects, string>> {
  const { path, mayExist, source, database, list } = options;
  if (path === undefined) return ok(listRejects(list));
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(database, path)) return failed("it is a file of the database");
  if (await isSameFile(path, source)) return failed("it is the file that is imported");
  if (!mayExist && (await exists(path))) return failed("it already exists");
  // If the process is killed, the same command can be run again, because the file has another name.
  const writtenTo = mayExist ? path : `${path}.unfinished`;
  try {
    const handle = await open(writtenTo, mayExist ? "a" : "w");
    const { size } = await handle.stat();
    return ok(listRejects(list, { path, writtenTo, handle, size }));
  } catch (error) {
    return failed(describeFileError(error));
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Whether two paths lead to the same file. Follows links. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const look = (path: string) => stat(path, { bigint: true }).catch(() => undefined);
  const [first, second] = await Promise.all([look(one), look(other)]);
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

interface RejectsFile {
  /** Its name when it is complete, and until then. */
  readonly path: string;
  readonly writtenTo: string;
  readonly handle: FileHandle;
  size: number;
}

function listRejects(list: RejectsOptions["list"], file?: RejectsFile): Rejects {
  let [lines, listed, unlisted, written] = [0, 0, 0, 0];
  return {
    add: async (rejected, heading) => {
      const entries = rejected.map(({ entry }) => entry);
      const kept = entries.filter(({ bytes }) => bytes.length <= LONGEST_ENTRY);
      const appended = file === undefined ? ok() : await append(file, kept, heading);
      // Entries that are missing in the file are all listed.
      const shown = rejected.slice(0, appended.isOk() ? MOST_LISTED - listed : undefined);
      for (const { entry, reason } of shown) list(`${positionOf(entry)}: ${reason}`);
      lines += countLines(entries);
      listed += shown.length;
      unlisted += countLines(entries.slice(shown.length));
      if (appended.isOk()) written += countLines(kept);
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
  const text = Buffer.concat(records.flatMap((record) => [record, LINE_FEED]));
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
