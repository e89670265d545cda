import { once } from "node:events";
import { createReadStream, fstatSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";

/** An input to read. */
export interface Source {
  readonly stream: Readable;
  /** Its size in bytes; 0 if it is not known, as for a pipe. */
  readonly size: number;
}

/**
 * Opens the file, or standard input for `-`. `Err` says why it cannot be read. A named pipe is open when it has
 * a writer.
 */
export async function openSource(path: string, stdin: Readable): Promise<Result<Source, string>> {
  if (path === "-") {
    // Node would read a directory as an empty file.
    if (fstatSync(0).isDirectory()) return err("cannot read standard input: it is a directory");
    return ok({ stream: stdin, size: 0 });
  }
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return err(`cannot read ${path}: it is a directory`);
    const stream = createReadStream(path);
    await once(stream, "open");
    return ok({ stream, size: stats.size });
  } catch (error) {
    return err(`cannot read ${path}: ${describeFileError(error)}`);
  }
}

/** A line of a file. */
export interface Line {
  /** The first line of a file is 1. */
  readonly number: number;
  /** Its bytes without the line feed; cut off if there are more than `LONGEST_LINE`. */
  readonly bytes: Buffer;
}

/** Lines that were read together. */
export interface LineBatch {
  readonly lines: readonly Line[];
  /** The number of bytes that were read so far. */
  readonly bytesRead: number;
  /** Whether it is the last batch, which may be empty. */
  readonly isEnd: boolean;
}

/** The maximum length of a line, in bytes. */
export const LONGEST_LINE = 1_048_576;

/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

/** Splits chunks into lines. Leaves out a byte order mark. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<LineBatch> {
  let unfinished: Buffer = Buffer.alloc(0);
  let bytesRead = 0;
  let number = 0;
  const split = (bytes: Buffer): Line[] => {
    const lines: Line[] = [];
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(LINE_FEED, start);
      const end = found < 0 ? bytes.length : found;
      const line = bytes.subarray(start, end);
      number += 1;
      lines.push({ number, bytes: number === 1 ? withoutMark(line) : line });
      start = end + 1;
    }
    return lines;
  };
  for await (const chunk of chunks) {
    bytesRead += chunk.length;
    const bytes = Buffer.concat([unfinished, chunk]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield { lines: split(bytes.subarray(0, end)), bytesRead, isEnd: false };
    unfinished = bytes.subarray(end, end + LONGEST_LINE + 1);
  }
  yield { lines: split(unfinished), bytesRead, isEnd: true };
}

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

function withoutMark(line: Buffer): Buffer {
  return line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
}

/** Whether a line is only white space. */
export function isBlank({ bytes }: Line): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
