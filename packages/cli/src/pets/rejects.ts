import { access, appendFile, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { Entry } from "./entry.js";
import { describeFileError } from "./file-error.js";

const LINE_FEED = Buffer.from("\n");

/** Keeps entries that were not imported, as they were, so that they can be corrected and imported. */
export interface Rejects {
  /** The file that holds some of them; `undefined` while there are none. */
  readonly path: string | undefined;
  /** Those that were too long to hold are not kept. `Err` is a line for a person. */
  keep(entries: readonly Entry[], heading: Entry | undefined): Promise<Result<void, string>>;
}

/** Keeps nothing. */
export const noRejects: Rejects = { path: undefined, keep: () => Promise.resolve(ok()) };

/** Where rejects are kept, and what may be found there. */
export interface RejectsPlace {
  readonly path: string;
  /** Whether a file that is already there is continued; else it is refused. */
  readonly mayContinue: boolean;
  /** Whether somebody asked for this very file: then it must be possible to write it. */
  readonly isWanted: boolean;
}

/**
 * Keeps them in a file, which is made for the first of them and begins with the heading. `Err` is a
 * line for a person.
 */
export async function openRejects({
  path,
  mayContinue,
  isWanted,
}: RejectsPlace): Promise<Result<Rejects, string>> {
  const failed = (reason: string) =>
    err(
      `cannot keep bad lines in ${path}: ${reason} (--rejects FILE keeps them elsewhere, --no-rejects nowhere)`,
    );
  const size = await sizeOf(path);
  if (size !== undefined && !mayContinue) return failed("it is there already");
  try {
    if (isWanted) await access(size === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    return failed(describeFileError(error));
  }

  let isMade = size !== undefined;
  let isEmpty = (size ?? 0) === 0;
  return ok({
    get path() {
      return isEmpty ? undefined : path;
    },
    keep: async (entries, heading) => {
      const kept = entries.flatMap(({ bytes }) => (bytes ? [bytes, LINE_FEED] : []));
      if (kept.length === 0) return ok();
      const first = isEmpty && heading?.bytes ? [heading.bytes, LINE_FEED] : [];
      try {
        // Made by nobody else meanwhile.
        await appendFile(path, Buffer.concat([...first, ...kept]), { flag: isMade ? "a" : "ax" });
        isMade = true;
        isEmpty = false;
        return ok();
      } catch (error) {
        return failed(describeFileError(error));
      }
    },
  });
}

/** `undefined` when nothing is there, or nobody may know. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}
