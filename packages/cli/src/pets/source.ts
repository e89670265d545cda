import { createReadStream, type ReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../file-error.js";

/** What is read, and how far that is. */
export interface Source {
  /** Where it lies; `undefined` when it is a pipe or the like. */
  readonly path: string | undefined;
  /** Reads its bytes, once. Throws what reading throws. */
  read(): AsyncIterable<Buffer>;
  /** How much of it has been read, from 0 to 1; `undefined` when nobody knows how much there is. */
  progress(): number | undefined;
}

const CHUNK = 262_144;

/** A file, or the standard input for `-`. `Err` is a line for a person. */
export async function findSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") return ok({ path: undefined, read: () => stdin, progress: () => undefined });
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a folder`);
    const isFile = stats.isFile() && !isNameOfAnother(path);
    return ok({ path: isFile ? path : undefined, ...sourceIn(path, stats.size) });
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

/** As `/dev/stdin` is, which may well lead to a file. */
function isNameOfAnother(path: string): boolean {
  return /^\/(?:dev\/(?:stdin$|fd\/)|proc\/)/.test(resolve(path));
}

function sourceIn(path: string, size: number): Pick<Source, "read" | "progress"> {
  let stream: ReadStream | undefined;
  return {
    read: () => (stream = createReadStream(path, { highWaterMark: CHUNK })),
    // A pipe has no size.
    progress: () => (size === 0 || !stream ? undefined : Math.min(stream.bytesRead / size, 1)),
  };
}
