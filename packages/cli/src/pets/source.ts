import { once } from "node:events";
import { createReadStream, fstatSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";

/** A file to read. */
export interface Source {
  readonly stream: Readable;
  /** Its bytes without a byte order mark. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Returns the fraction that has been read; `undefined` if the size is not known, as for a pipe. */
  readonly fraction: () => number | undefined;
}

/**
 * Opens the file, or standard input for `-`. `Err` says why it cannot be read. A named pipe is open when it has
 * a writer.
 */
export async function openSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    // Node would read a directory as an empty file.
    if (fstatSync(0).isDirectory()) return err("cannot read standard input: it is a directory");
    return ok(toSource(stdin, 0));
  }
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    const stream = createReadStream(path);
    await once(stream, "open");
    return ok(toSource(stream, stats.size));
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

const MARK = Buffer.from("\uFEFF");

function toSource(stream: Readable, size: number): Source {
  let bytesRead = 0;
  async function* read(): AsyncIterable<Buffer> {
    let start = Buffer.alloc(0);
    const chunks: AsyncIterable<Buffer> = stream;
    for await (const chunk of chunks) {
      bytesRead += chunk.length;
      if (bytesRead - chunk.length >= MARK.length) yield chunk;
      else {
        start = Buffer.concat([start, chunk]);
        if (start.length >= MARK.length) yield withoutMark(start);
      }
    }
    if (start.length < MARK.length) yield start;
  }
  const fraction = () => (size === 0 ? undefined : Math.min(bytesRead / size, 1));
  return { stream, chunks: read(), fraction };
}

function withoutMark(start: Buffer): Buffer {
  return start.subarray(0, MARK.length).equals(MARK) ? start.subarray(MARK.length) : start;
}
