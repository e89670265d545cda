import type { Writable } from "node:stream";
import { describeFileError } from "./file-error.js";
import type { Terminal } from "./terminal.js";

/**
 * A terminal on the outputs of this process. Nobody dies of one that cannot be written: a full disk or a
 * reader that has gone ends neither a server nor an import.
 */
export function processTerminal(stdout: Writable, stderr: Writable): Terminal {
  let problem: string | undefined;
  let last = Promise.resolve();
  stdout.on("error", () => undefined);
  // There is nobody left to tell.
  stderr.on("error", () => undefined);
  return {
    out: (line) => {
      last = new Promise((resolve) => {
        stdout.write(`${line}\n`, (error) => {
          if (error) problem ??= describeFileError(error);
          resolve();
        });
      });
    },
    error: (line) => void stderr.write(`${line}\n`),
    written: async () => {
      await last;
      return problem;
    },
  };
}
