import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import type { Clock } from "@petstore/core";
import type { ResponseReport } from "@petstore/http-adapter";
import { describeFileError, describeUnknownError } from "../describe-error.js";
import { readIfThere } from "../stop-signal.js";
import { fileOf, toJson, type ReportError, type Streams } from "../terminal.js";

/** How much of the log may be unread, in bytes. */
const MAX_BUFFERED = 16_777_216;

/** The levels of pino, whose tools can read the log: time and message have its format, too. */
const INFO = 30;
const WARN = 40;

/**
 * Writes a line of JSON for each response; an unknown value is `null`. No request waits for its line, which is lost if
 * it cannot be written or the reader is too slow. This is reported, and a line before the next says how many were lost.
 */
export function createRequestLog(stream: Streams["stdout"], clock: Clock, report: ReportError) {
  const write = writerOf(stream);
  let lost = 0;
  const lose = (problem: string): void => {
    lost += 1;
    report(`a line of the log was lost: ${problem}`);
  };
  const lostLine = (): Buffer =>
    lineOf({ level: WARN, time: clock.now(), lost, msg: "lines of the log were lost" });
  // Without `writev`, it writes one line after the other.
  const queue = new Writable({
    write: (line: Buffer, _, done) => {
      const told = lost;
      write(told === 0 ? line : Buffer.concat([lostLine(), line]), (problem) => {
        if (problem) lose(describeFileError(problem));
        else lost -= told;
        done();
      });
    },
  });
  return {
    add: ({ requestId, operation, keyId, status, code, milliseconds }: ResponseReport): void => {
      if (queue.writableLength >= MAX_BUFFERED) {
        lose("its reader is too slow");
        return;
      }
      const line = { requestId, operation, keyId, status, code, milliseconds, msg: "request" };
      queue.write(lineOf({ level: INFO, time: clock.now(), ...line }));
    },
    end: (): void => {
      if (lost > 0) write(lostLine(), () => undefined);
    },
  };
}

const lineOf = (value: object): Buffer => Buffer.from(`${toJson(value)}\n`);

/**
 * Returns a function that writes a line completely or not at all, although other processes write to the same file or
 * pipe. The next line must wait for `done`, which receives why this one could not be written: a pipe keeps only a write
 * of up to 4,096 bytes in one piece.
 */
function writerOf(stream: Streams["stdout"]) {
  const fd = fileOf(stream);
  type Done = (problem?: unknown) => void;
  return fd === undefined
    ? (line: Buffer, done: Done) => void stream.write(line, done)
    : (line: Buffer, done: Done) => done(writeToFile(fd, line));
}

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

/** How long to count errors of one kind after a line about them, in milliseconds. */
const INTERVAL = 10_000;

/** The first error with a message is reported at once, and after it a count of the others every ten seconds. */
export function createErrorLog(report: ReportError) {
  const counts = new Map<string, number>();
  const reportCount = (message: string): number => {
    const count = counts.get(message) ?? 0;
    counts.delete(message);
    if (count > 0) report(`${message} (${count} more)`);
    return count;
  };
  const watch = (message: string): void => {
    counts.set(message, 0);
    setTimeout(() => reportCount(message) > 0 && watch(message), INTERVAL).unref();
  };
  return {
    add: (error: unknown): void => {
      const text = describeUnknownError(error);
      const [message = ""] = text.split("\n", 1);
      const count = counts.get(message);
      if (count === undefined) {
        report(text);
        watch(message);
      } else counts.set(message, count + 1);
    },
    end: (): void => {
      for (const message of counts.keys()) reportCount(message);
    },
  };
}
