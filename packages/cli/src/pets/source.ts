import { createReadStream, fstatSync, openSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";

/** An input to read. */
export interface Source {
  /** Reads its bytes, once. Throws when reading fails, and when `stop` is aborted. */
  read(stop: AbortSignal): AsyncIterable<Buffer>;
  /** Returns the fraction that has been read, from 0 to 1, if the size is known. */
  fraction(): number | undefined;
}

/** Finds the file, or standard input for `-`. `Err` says why it cannot be read. */
export async function findSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    // Node would read a directory as an empty file.
    if (fstatSync(0).isDirectory()) return err("cannot read standard input: it is a directory");
    return ok(createSource(() => stdin, 0));
  }
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    const isPipe = stats.isFIFO() && process.platform === "linux";
    return ok(createSource(() => (isPipe ? openPipe(path) : createReadStream(path)), stats.size));
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

/** A size of 0 means that it is not known, as for a pipe. */
function createSource(open: () => Readable, size: number): Source {
  let bytesRead = 0;
  return {
    async *read(stop) {
      const chunks: AsyncIterable<Buffer> = addAbortSignal(stop, open());
      for await (const chunk of chunks) {
        bytesRead += chunk.length;
        yield chunk;
      }
    },
    // The file may grow.
    fraction: () => (size === 0 ? undefined : Math.min(bytesRead / size, 1)),
  };
}

/**
 * Opens a named pipe without waiting for a writer. A blocking open would occupy a thread, and keep the
 * process alive, until a writer opens the pipe. Only Linux can wait for the first writer later.
 */
function openPipe(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
