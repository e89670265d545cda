import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { WriteStream } from "node:tty";
import { codeOf, UNPRINTABLE } from "@petstore/core/facts";
import { fromThrowable } from "neverthrow";
import { describeFileError } from "./describe-error.js";

export interface StopSignal {
  /** Aborted at the first SIGINT, SIGTERM or SIGHUP, if the command stops in order. Its reason is the name. */
  readonly signal: AbortSignal;
  /** Removes the handlers. A server keeps them until its process ends, because its last lines may take a moment. */
  readonly end: () => void;
}

export interface Terminal {
  /** The width in characters; `undefined` if the result does not go to a terminal. */
  readonly columns?: number | undefined;
  out(line: string): void;
  error(line: string): void;
  /** Resolves to why a line was not written. A closed pipe, as of `head`, is a reason only if it `mustBeRead`. */
  written(mustBeRead?: boolean): Promise<string | undefined>;
}

/** `process` has this type. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly stdout: Writable & TerminalStream & { readonly fd?: number };
  readonly stderr: Writable & TerminalStream;
}

/** A size of 0 is not known. */
type TerminalStream = Readonly<Partial<Pick<WriteStream, "isTTY" | "columns" | "rows">>>;

export type ReportError = (message: string) => void;

export interface CommandIO {
  readonly terminal: Terminal;
  readonly streams: Streams;
  readonly stop: StopSignal;
  readonly report: ReportError;
  /** Reports why the command failed: it then ends with the exit code 1. */
  readonly fail: ReportError;
}

/** Does not end the process at a full disk or a closed pipe. Control characters reach pipes and files, but no screen. */
export function createTerminal({ stdout, stderr }: Omit<Streams, "stdin">): Terminal {
  const file = fileOf(stdout);
  let problem: unknown;
  let last = Promise.resolve();
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  return {
    columns: columnsOf(stdout),
    out: (line) => {
      const text = `${textFor(stdout, line)}\n`;
      last = new Promise((resolve) => {
        const done = (error?: unknown): void => {
          problem ??= error ?? undefined;
          resolve();
        };
        if (file === undefined) stdout.write(text, done);
        else fromThrowable(writeFileSync)(file, text).match(() => done(), done);
      });
    },
    error: (line) => void stderr.write(`${textFor(stderr, line)}\n`),
    written: async (mustBeRead = false) => {
      await last;
      const isFine = problem === undefined || (isClosedPipe(problem) && !mustBeRead);
      return isFine ? undefined : describeFileError(problem);
    },
  };
}

/** Returns the descriptor of standard output if it is a file: Node writes to it without looking at how much was written. */
export function fileOf(stdout: Streams["stdout"]): number | undefined {
  return stdout instanceof Socket ? undefined : stdout.fd;
}

export const isClosedPipe = (error: unknown): boolean => codeOf(error) === "EPIPE";

function textFor({ isTTY }: TerminalStream, line: string): string {
  return isTTY === true ? escapeUnprintable(line) : line;
}

/** Escapes the characters that a terminal would interpret or not show, as in JSON, except line feeds. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => character.replace(/[^\n]/g, escapeUnit));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Shows progress in one line of a terminal, with a bar if the fraction is known. An empty text erases the line. */
export type Progress = (text: string, fraction?: number) => void;

/** Has no effect if the stream is not a terminal, or the data is on a terminal, too. */
export function createProgress(stream: Streams["stderr"], isDataOnTerminal: boolean): Progress {
  let isShown = false;
  return (text, fraction) => {
    if (stream.isTTY !== true || isDataOnTerminal || (text === "" && !isShown)) return;
    // A line that is wrapped could not be erased.
    const room = columnsOf(stream) ?? Infinity;
    const line = `${fraction === undefined ? "" : bar(fraction)}${text}`;
    stream.write(`\r\u001B[K${line.length < room ? line : text}`);
    isShown = text !== "";
  };
}

/** A terminal that reports fewer columns does not know its width. */
const FEWEST_COLUMNS = 20;

/** `undefined` if the stream is no terminal, or its width is not known. */
export function columnsOf({ isTTY, columns = 0 }: TerminalStream): number | undefined {
  return isTTY === true && columns >= FEWEST_COLUMNS ? columns : undefined;
}

function bar(fraction: number): string {
  const done = "█".repeat(Math.round(fraction * 30)).padEnd(30, "░");
  return `${done} ${(fraction * 100).toFixed(1).padStart(5)} % `;
}

/** Returns JSON that has null for what is undefined. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => each ?? null);
}

/** Returns a number with its noun in the singular or the plural: `1 key`, `1,000 keys`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

export function alsoThere(count: number, noun: string): string {
  if (count === 0) return "";
  return `; ${counted(count, noun)} ${count === 1 ? "was" : "were"} there already`;
}
