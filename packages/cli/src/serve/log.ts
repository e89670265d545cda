import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import type { Clock } from "@petstore/core";
import type { ResponseReport } from "@petstore/http-adapter";
import { describeFileError, describeUnknownError } from "../describe-error.js";
import { readIfThere } from "../stop-signal.js";
import type { ReportError, Streams } from "../terminal.js";

/** How much of the log may be unread, in bytes. */
const MAX_BUFFERED = 16_777_216;

/** The levels, time and message have pino's format, so that its tools can read the log. */
const INFO = 30;
const WARN = 40;

/**
 * Writes a line of JSON for each response; an unknown value is `null`. Requests do not wait for their
 * lines: a line is lost if it cannot be written or the reader is too slow. Each is reported, and the log itself
 * says how many there were before its next line.
 */
export function createRequestLog(stream: Streams["stdout"], clock: Clock, report: ReportError) {
  const write = writerOf(stream);
  let lost = 0;
  const lose = (problem: string): void => {
    lost += 1;
    report(`a line of the log was lost: ${problem}`);
  };
  const tellLost = (done: () => void): void => {
    const told = lost;
    if (told === 0) {
      done();
      return;
    }
    lost = 0;
    const line = { level: WARN, time: clock.now(), lost: told, msg: "lines of the log were lost" };
    write(lineOf(line), (problem) => {
      if (problem) lost += told;
      done();
    });
  };
  // Without `writev`, it writes one line after the other.
  const queue = new Writable({
    write: (line: Buffer, _, done) =>
      tellLost(() =>
        write(line, (problem) => {
          if (problem) lose(describeFileError(problem));
          done();
        }),
      ),
  });
  return {
    add: ({ requestId, operation, keyId, status, code, milliseconds }: ResponseReport): void => {
      if (queue.writableLength >= MAX_BUFFERED) {
        lose("its reader is too slow");
        return;
      }
      const line = {
        level: INFO,
        time: clock.now(),
        requestId: requestId ?? null,
        operation: operation ?? null,
        keyId: keyId ?? null,
        status: status ?? null,
        code: code ?? null,
        milliseconds,
        msg: "request",
      };
      queue.write(lineOf(line));
    },
    end: () => tellLost(() => undefined),
  };
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * Returns a function that writes a line completely or not at all, although other processes write to the same file or
 * pipe. The next line must wait for `done`, which receives why this one could not be written: a pipe keeps only a write
 * of up to 4,096 bytes in one piece.
 */
function writerOf(stream: Streams["stdout"]) {
  const { fd } = stream;
  type Done = (problem?: unknown) => void;
  // Node writes to a file without looking at how much was written.
  return fd === undefined || stream instanceof Socket
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
  const kinds = new Map<string, { count: number; readonly timer: NodeJS.Timeout }>();
  const reportCount = (message: string, count: number): void => {
    if (count > 0) report(`${message} (${count} more)`);
  };
  const watch = (message: string): void => {
    const timer = setTimeout(() => {
      kinds.delete(message);
      reportCount(message, kind.count);
      if (kind.count > 0) watch(message);
    }, INTERVAL).unref();
    const kind = { count: 0, timer };
    kinds.set(message, kind);
  };
  return {
    add: (error: unknown): void => {
      const [message = ""] = describeUnknownError(error).split("\n", 1);
      const kind = kinds.get(message);
      if (kind !== undefined) kind.count += 1;
      else {
        report(describeUnknownError(error));
        watch(message);
      }
    },
    end: (): void => {
      for (const [message, { count, timer }] of kinds) {
        clearTimeout(timer);
        reportCount(message, count);
      }
      kinds.clear();
    },
  };
}
