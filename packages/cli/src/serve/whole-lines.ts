import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { readIfThere } from "../stop-signal.js";
import type { Streams } from "../terminal.js";

/** Writes a line. `done` receives why it could not be written. */
export type WriteLine = (line: Buffer, done: (problem?: unknown) => void) => void;

/**
 * Returns a function that writes a line completely or not at all, although other processes write to the same file or
 * pipe. The next line must wait for `done`: a pipe keeps only a write of up to 4,096 bytes in one piece.
 */
export function writerOf(stream: Streams["stdout"]): WriteLine {
  const { fd } = stream;
  // Node writes to a file without looking at how much was written.
  return fd === undefined || stream instanceof Socket
    ? (line, done) => void stream.write(line, done)
    : (line, done) => done(writeToFile(fd, line));
}

/** Returns why the line could not be written. */
function writeToFile(fd: number, line: Buffer): unknown {
  let written = 0;
  try {
    while (written < line.length) written += writeSync(fd, line, written);
    return undefined;
  } catch (error) {
    if (written > 0) takeBack(fd, written);
    return error;
  }
}

/**
 * Removes the part of a line that still had room on a full disk. Without O_APPEND, the next line follows behind this
 * part, which becomes spaces: JSON may begin with them.
 */
function takeBack(fd: number, count: number): void {
  const start = fstatSync(fd).size - count;
  const isAppending = /^flags:.*[2367]\d{3}$/m.test(readIfThere(`/proc/self/fdinfo/${fd}`));
  if (isAppending) ftruncateSync(fd, start);
  else writeSync(fd, " ".repeat(count), start);
}
