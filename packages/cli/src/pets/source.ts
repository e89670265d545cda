import { createReadStream, fstatSync, openSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { LINE_FEED, LONGEST_ENTRY } from "./entries.js";

/** An input to read. */
export interface Source {
  readonly open: () => Readable;
  /** Its size in bytes; 0 if it is not known, as for a pipe. */
  readonly size: number;
}

/** Finds the file, or standard input for `-`. `Err` says why it cannot be read. */
export async function findSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    // Node would read a directory as an empty file.
    if (fstatSync(0).isDirectory()) return err("cannot read standard input: it is a directory");
    return ok({ open: () => stdin, size: 0 });
  }
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    const isPipe = stats.isFIFO() && process.platform === "linux";
    return ok({ open: () => (isPipe ? openPipe(path) : createReadStream(path)), size: stats.size });
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

/**
 * Opens a named pipe without waiting for a writer. A blocking open would occupy a thread, and keep the
 * process alive, until a writer opens the pipe. Only Linux can wait for the first writer later.
 */
function openPipe(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Whole lines that were read together. */
export interface Block {
  readonly lines: Buffer;
  /** The number of bytes that were read so far. */
  readonly bytesRead: number;
  /** Whether it is the last block, which may be empty. */
  readonly isEnd: boolean;
}

/**
 * Joins chunks to blocks of whole lines. Leaves out a byte order mark. Of a line that is longer than
 * `LONGEST_ENTRY`, some bytes may be missing.
 */
export async function* readBlocks(chunks: AsyncIterable<Buffer>): AsyncIterable<Block> {
  let unfinished = Buffer.alloc(0);
  let bytesRead = 0;
  let isBeginning = true;
  const toBlock = (bytes: Buffer, isEnd: boolean): Block => {
    const isMarked = isBeginning && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    isBeginning = false;
    return { lines: isMarked ? bytes.subarray(3) : bytes, bytesRead, isEnd };
  };
  for await (const chunk of chunks) {
    bytesRead += chunk.length;
    const bytes = Buffer.concat([unfinished, chunk]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield toBlock(bytes.subarray(0, end), false);
    unfinished = Buffer.from(bytes.subarray(end, end + LONGEST_ENTRY + 1));
  }
  yield toBlock(unfinished, true);
}

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
