import { appendFile, open, rm } from "node:fs/promises";
import { err, ok, type Result } from "neverthrow";
import type { Entry } from "./entry.js";
import { describeFileError } from "./file-error.js";

const LINE_FEED = Buffer.from("\n");

/** Keeps entries that were not imported, as they were, so that they can be corrected and imported. */
export interface Rejects {
  /** Those that were too long to hold are not kept. `Err` is a line for a person. */
  keep(entries: readonly Entry[], heading: Entry | undefined): Promise<Result<void, string>>;
}

/** Keeps nothing. */
export const noRejects: Rejects = { keep: () => Promise.resolve(ok()) };

/**
 * Keeps them in a file, which is made for the first of them and begins with the heading. A file that is
 * already there is continued or refused. `Err` is a line for a person.
 */
export async function openRejects(
  path: string,
  mayContinue: boolean,
): Promise<Result<Rejects, string>> {
  const failed = (error: unknown) =>
    err(
      `cannot keep bad lines in ${path}: ${describeFileError(error)} (--rejects FILE keeps them elsewhere, --no-rejects nowhere)`,
    );
  let isEmpty = true;
  try {
    const file = await open(path, mayContinue ? "a" : "wx");
    isEmpty = (await file.stat()).size === 0;
    await file.close();
    if (isEmpty) await rm(path);
  } catch (error) {
    return failed(error);
  }
  return ok({
    keep: async (entries, heading) => {
      const all = isEmpty && heading !== undefined ? [heading, ...entries] : entries;
      const parts = all.flatMap(({ bytes }) => (bytes ? [bytes, LINE_FEED] : []));
      try {
        if (entries.length > 0) await appendFile(path, Buffer.concat(parts));
        isEmpty &&= entries.length === 0;
        return ok();
      } catch (error) {
        return failed(error);
      }
    },
  });
}
