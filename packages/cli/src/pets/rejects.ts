import { appendFile, open, rm, stat, truncate } from "node:fs/promises";
import { err, ok, type Result } from "neverthrow";
import { countLines, type Entry } from "./entry.js";
import { describeFileError } from "../file-error.js";

const LINE_FEED = Buffer.from("\n");

/** Keeps entries that were not imported, as they were, so that they can be corrected and imported. */
export interface Rejects {
  /** Where; empty when nowhere. */
  readonly path: string;
  /** Keeps those that were not too long to hold, and answers how many lines. `Err`: a line for a person. */
  keep(entries: readonly Entry[], heading: Entry | undefined): Promise<Result<number, string>>;
}

/** Keeps nothing. */
export const noRejects: Rejects = { path: "", keep: () => Promise.resolve(ok(0)) };

/** Where rejects are kept, and what may be found there. */
export interface RejectsPlace {
  readonly path: string;
  /** Whether a file that is already there is continued; else it is refused. */
  readonly mayContinue: boolean;
  /** Whether somebody asked for this very file: then it is tried before the import begins. */
  readonly isWanted: boolean;
}

/**
 * Keeps them in a file, which is made for the first of them and begins with the heading. `Err` is a
 * line for a person.
 */
export async function openRejects(place: RejectsPlace): Promise<Result<Rejects, string>> {
  const { path } = place;
  const failed = (error: unknown, consequence = "") =>
    err(
      `cannot keep bad lines in ${path}: ${describeFileError(error)}${consequence} (--rejects FILE keeps them elsewhere, --no-rejects nowhere)`,
    );
  let size: number | undefined;
  try {
    size = await (place.isWanted ? tryToWrite(place) : lookFor(place));
  } catch (error) {
    return failed(error);
  }
  return ok({
    path,
    keep: async (entries, heading) => {
      const records = entries.flatMap(({ bytes }) => bytes ?? []);
      if (records.length === 0) return ok(0);
      const all = !size && heading?.bytes ? [heading.bytes, ...records] : records;
      const bytes = Buffer.concat(all.flatMap((record) => [record, LINE_FEED]));
      try {
        // A file that another import has made meanwhile is not continued.
        await appendFile(path, bytes, { flag: size === undefined ? "ax" : "a" });
        size = (size ?? 0) + bytes.length;
        return ok(countLines(entries.filter((entry) => entry.bytes !== undefined)));
      } catch (error) {
        // A part of a line would be taken for the start of the next.
        if (size !== undefined || codeOf(error) !== "EEXIST") await cut(path, size ?? 0);
        return failed(error, "; those just reported are not kept");
      }
    },
  });
}

/** The size of the file, `undefined` when it must still be made. Throws what keeps it from being written. */
async function tryToWrite({ path, mayContinue }: RejectsPlace): Promise<number | undefined> {
  try {
    await (await open(path, "wx")).close();
    await rm(path);
    return undefined;
  } catch (error) {
    if (!mayContinue || codeOf(error) !== "EEXIST") throw error;
  }
  const file = await open(path, "a");
  const { size } = await file.stat();
  await file.close();
  return size;
}

/** The same without trying: there may never be anything to write. */
async function lookFor({ path, mayContinue }: RejectsPlace): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !mayContinue) throw new Error("it is there already");
  return found?.size;
}

/** Leaves no more of a file than so many bytes, if it can. */
async function cut(path: string, size: number): Promise<void> {
  await truncate(path, size).catch(() => undefined);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
