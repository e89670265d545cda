import { createReadStream, fstatSync, openSync, type Stats } from "node:fs";
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
  progress(): number | undefined;
}

const CHUNK = 262_144;

/** Finds the file, or standard input for `-`. `Err` says why it cannot be read. */
export async function findSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    // Node would read a directory as an empty file.
    const isDirectory = stdin === process.stdin && fstatSync(0).isDirectory();
    if (isDirectory) return err("cannot read standard input: it is a directory");
    return ok({ read: (stop) => addAbortSignal(stop, stdin), progress: () => undefined });
  }
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    return ok(fileSource(path, stats));
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

function fileSource(path: string, stats: Stats): Source {
  const { size } = stats;
  let bytesRead = 0;
  return {
    async *read(stop) {
      const isPipe = stats.isFIFO() && process.platform === "linux";
      const stream = isPipe ? openPipe(path) : createReadStream(path, { highWaterMark: CHUNK });
      const chunks: AsyncIterable<Buffer> = addAbortSignal<Readable>(stop, stream);
      for await (const chunk of chunks) {
        bytesRead += chunk.length;
        yield chunk;
      }
    },
    // A pipe has no size, and a file may grow.
    progress: () => (size === 0 ? undefined : Math.min(bytesRead / size, 1)),
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
