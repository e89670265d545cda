import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../file-error.js";
import { isNameOfAnother } from "./name-of-another.js";
import { listenForStop } from "../stop-signal.js";
import { openWholeFile } from "./whole-file.js";

/** Where an export goes. */
export interface Sink {
  /** Writes, and waits until more may follow. `Err` is a line for a person. */
  write(text: string): Promise<Result<void, string>>;
  /** Ends it well: from now on what was written is there under its name. `Err`: it was abandoned. */
  finish(): Promise<Result<void, string>>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/**
 * The standard output; a file that appears when it is whole; or what is there under this name and is no
 * file, such as a pipe, which is written into and never replaced. `Err` is a line for a person.
 */
export async function openSink(
  path: string,
  overwrite: boolean,
  stdout: Writable,
): Promise<Result<Sink, string>> {
  if (path === "-") return ok(streamSink(stdout, () => written(stdout)));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return err(`cannot write ${path}: it is a folder`);
  if (found !== undefined && (!found.isFile() || isNameOfAnother(path))) {
    // What a shell has already written into the file behind /dev/stdout stays.
    const stream = createWriteStream(path, { flags: "a" });
    return ok(streamSink(stream, () => finished(stream.end())));
  }
  // A link that leads nowhere is there as well.
  const isThere = (await lstat(path).catch(() => undefined)) !== undefined;
  if (isThere && !overwrite) return err(`${path} is there already (--force writes over it)`);
  return attempt(path, () => fileSink(path));
}

function streamSink(stream: Writable, end: () => Promise<unknown>): Sink {
  let broken: unknown;
  stream.on("error", (error) => (broken ??= error));
  const outcome = (): Result<void, string> =>
    broken === undefined ? ok() : err(`the output ended: ${describeFileError(broken)}`);
  return {
    write: async (text) => {
      if (!stream.write(text) && broken === undefined) {
        await once(stream, "drain").catch(() => undefined);
      }
      return outcome();
    },
    finish: async () => {
      await end().catch((error: unknown) => (broken ??= error));
      return outcome();
    },
    abandon: () => Promise.resolve(),
  };
}

/** Waits until all that was written before is out. */
function written(stream: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write("", (error) => (error ? reject(error) : resolve()));
  });
}

async function fileSink(path: string): Promise<Sink> {
  const file = await openWholeFile(path);
  const stop = listenForStop();
  const unlessStopped = (work: () => Promise<void>): Promise<Result<void, string>> =>
    stop.signal.aborted ? Promise.resolve(err("the export was told to stop")) : attempt(path, work);
  const abandon = async (): Promise<void> => {
    await file.remove();
    stop.end();
  };
  return {
    write: (text) => unlessStopped(() => file.append(text)),
    finish: async () => {
      const published = await unlessStopped(() => file.publish());
      await abandon();
      return published;
    },
    abandon,
  };
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(`cannot write ${path}: ${describeFileError(error)}`);
  }
}
