import { open, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../file-error.js";

/** Where an export goes. */
export interface Sink {
  /** Writes, and waits until more may follow. `Err` is a line for a person. */
  write(text: string): Promise<Result<void, string>>;
  /** Ends it well: from now on what was written is there under its name. */
  finish(): Promise<Result<void, string>>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** The standard output, or a file that appears when it is whole. `Err` is a line for a person. */
export async function openSink(
  path: string,
  overwrite: boolean,
  stdout: Writable,
): Promise<Result<Sink, string>> {
  if (path === "-") return ok(streamSink(stdout));
  if (!overwrite && existsSync(path))
    return err(`${path} is there already (--force writes over it)`);
  return attempt(path, () => fileSink(path));
}

function streamSink(stream: Writable): Sink {
  let broken: Error | undefined;
  stream.on("error", (error) => (broken = error));
  return {
    write: async (text) => {
      if (!stream.write(text) && broken === undefined) {
        await once(stream, "drain").catch(() => undefined);
      }
      return broken === undefined ? ok() : err(`the output ended: ${broken.message}`);
    },
    finish: () => Promise.resolve(ok()),
    abandon: () => Promise.resolve(),
  };
}

async function fileSink(path: string): Promise<Sink> {
  const unfinished = `${path}.unfinished`;
  const file = await open(unfinished, "w");
  return {
    write: (text) => attempt(path, () => file.appendFile(text)),
    finish: () =>
      attempt(path, async () => {
        await file.sync();
        await file.close();
        await rename(unfinished, path);
      }),
    abandon: async () => {
      await file.close();
      await rm(unfinished, { force: true });
    },
  };
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(`cannot write ${path}: ${describeFileError(error)}`);
  }
}
