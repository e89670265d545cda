import { once } from "node:events";
import { createReadStream, fstatSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "./describe-error.js";

/** A file to read. */
export interface Source {
  readonly stream: Readable;
  /** Returns the fraction that has been read; `undefined` if the size is not known, as for a pipe. */
  readonly fraction: () => number | undefined;
}

/**
 * Opens the file, or standard input for `-`. `Err` says why it cannot be read. A named pipe is open when it has
 * a writer.
 */
export async function openSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  const name = path === "-" ? "standard input" : path;
  try {
    // As numbers, those of a pipe would keep Node 20 and 22 from resolving links when they load modules.
    const stats = path === "-" ? fstatSync(0, { bigint: true }) : await stat(path);
    // Node would read a directory that is standard input as an empty file.
    if (stats.isDirectory()) return err(`cannot read ${name}: it is a directory`);
    if (path === "-") return ok({ stream: stdin, fraction: () => undefined });
    const stream = createReadStream(path);
    await once(stream, "open");
    const size = Number(stats.size);
    const read = () => Math.min((stream.bytesRead - stream.readableLength) / size, 1);
    return ok({ stream, fraction: () => (size === 0 ? undefined : read()) });
  } catch (error) {
    return err(`cannot read ${name}: ${describeFileError(error)}`);
  }
}
