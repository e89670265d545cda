import { open, rm, stat, type FileHandle } from "node:fs/promises";
import { isFileOfDatabase } from "@petstore/storage-sqlite";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { countLines, type Entry } from "./pet-file.js";

/** The file to which lines that cannot be imported are written, unchanged. */
export interface Rejects {
  /**
   * Writes entries, after the heading if the file is empty. Leaves out entries that were too long to
   * keep. Resolves to the number of lines written.
   */
  write(entries: readonly Entry[], heading: Buffer | undefined): Promise<Result<number, string>>;
  /** Closes the file, and removes it if it is empty. */
  close(): Promise<void>;
}

/** Where rejected lines are written, and where they must not be. */
export interface RejectsOptions {
  /** The file; if left out, nothing is written. */
  readonly path: string | undefined;
  /** Whether the file may exist; then the lines are appended to it. */
  readonly mayExist: boolean;
  /** The file to import and the database. Rejected lines must not be written to either. */
  readonly source: string;
  readonly database: string;
}

/** Opens the file for rejected lines. `Err` says why it cannot be written. */
export async function openRejects(options: RejectsOptions): Promise<Result<Rejects, string>> {
  const { path, mayExist, source, database } = options;
  if (path === undefined) {
    return ok({ write: () => Promise.resolve(ok(0)), close: () => Promise.resolve() });
  }
  const failed = (reason: string) => err(`cannot write rejected lines to ${path}: ${reason}`);
  if (isFileOfDatabase(database, path)) return failed("it is a file of the database");
  if (await isSameFile(path, source)) return failed("it is the file that is imported");
  try {
    const file = await open(path, mayExist ? "a" : "wx");
    const { size } = await file.stat();
    return ok(fileRejects(path, file, size, failed));
  } catch (error) {
    return failed(describeFileError(error));
  }
}

function fileRejects(
  path: string,
  file: FileHandle,
  initialSize: number,
  failed: (reason: string) => Result<never, string>,
): Rejects {
  let size = initialSize;
  return {
    write: async (entries, heading) => {
      const kept = entries.filter(({ bytes }) => bytes !== undefined);
      if (kept.length === 0) return ok(0);
      const records = [size === 0 ? heading : undefined, ...kept.map(({ bytes }) => bytes)];
      const text = Buffer.concat(
        records.flatMap((record) => (record === undefined ? [] : [record, Buffer.from("\n")])),
      );
      try {
        await file.appendFile(text);
        size += text.length;
        return ok(countLines(kept));
      } catch (error) {
        // Otherwise the next line would be appended to part of this one.
        await file.truncate(size).catch(() => undefined);
        return failed(`${describeFileError(error)}; the lines just reported are not in it`);
      }
    },
    close: async () => {
      await file.close();
      if (size === 0) await rm(path, { force: true });
    },
  };
}

/** Whether two paths lead to the same file. Follows links. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const look = (path: string) => stat(path, { bigint: true }).catch(() => undefined);
  const [first, second] = await Promise.all([look(one), look(other)]);
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
