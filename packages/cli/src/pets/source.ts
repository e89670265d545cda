import { createReadStream, fstatSync, openSync, type ReadStream, type Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../file-error.js";
import { isNameOfAnother } from "./name-of-another.js";

/** What is read, and how far that is. */
export interface Source {
  /** Where it lies; `undefined` when it is a pipe or the like. */
  readonly path: string | undefined;
  /** Reads its bytes, once. Throws what reading throws, and an AbortError when it is told to stop. */
  read(stop: AbortSignal): AsyncIterable<Buffer>;
  /** How much of it has been read, from 0 to 1; `undefined` when nobody knows how much there is. */
  progress(): number | undefined;
}

const CHUNK = 262_144;

/** A file, or the standard input for `-`. `Err` is a line for a person. */
export async function findSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    if (isFolder(stdin)) return err("cannot read the standard input: it is a folder");
    const read: Source["read"] = (stop) => addAbortSignal(stop, stdin);
    return ok({ path: undefined, read, progress: () => undefined });
  }
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a folder`);
    const isFile = stats.isFile() && !isNameOfAnother(path);
    return ok({ path: isFile ? path : undefined, ...sourceIn(path, stats) });
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

/** Node reads a folder as if it were empty. */
function isFolder(stdin: Readable): boolean {
  return stdin === process.stdin && fstatSync(0).isDirectory();
}

function sourceIn(path: string, stats: Stats): Pick<Source, "read" | "progress"> {
  const { size } = stats;
  let file: ReadStream | undefined;
  const open = (): Readable => {
    if (stats.isFIFO() && process.platform === "linux") return openPipe(path);
    return (file = createReadStream(path, { highWaterMark: CHUNK }));
  };
  return {
    async *read(stop) {
      yield* addAbortSignal(stop, open());
    },
    // A pipe has no size.
    progress: () => (size === 0 || !file ? undefined : Math.min(file.bytesRead / size, 1)),
  };
}

/**
 * A pipe that is read as a file keeps a thread waiting for its writer, and nothing can call that back. Only
 * Linux tells one whose writer has not come yet from one whose writer has gone.
 */
function openPipe(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
