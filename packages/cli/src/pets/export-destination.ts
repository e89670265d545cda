import { lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { systemRandom } from "@petstore/core";
import { err, ok, type Result } from "neverthrow";
import { describeFileError } from "../describe-error.js";
import { listenForStop } from "../stop-signal.js";

/** Where an export is written. */
export interface Destination {
  /** Writes text. Resolves when more can be written. */
  write(text: string): Promise<Result<void, string>>;
  /** Completes the export and gives a new file its name. */
  finish(): Promise<Result<void, string>>;
  /** Closes the destination, and removes a new file that is incomplete. */
  close(): Promise<void>;
}

/**
 * Opens standard output for `-`, an existing pipe or device, or a new file. A new file gets its name
 * when it is complete. `Err` says why the destination cannot be written.
 */
export async function openDestination(
  path: string,
  mayReplace: boolean,
  stdout: Writable,
): Promise<Result<Destination, string>> {
  if (path === "-") return ok(standardOutput(stdout));
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) return err(`cannot write ${path}: it is a directory`);
  if (existing !== undefined && !existing.isFile()) return tryToWrite(path, () => openPipe(path));
  // lstat, because a link exists even if its target does not.
  const exists = (await lstat(path).catch(() => undefined)) !== undefined;
  if (exists && !mayReplace) return err(`${path} already exists (--force replaces it)`);
  return tryToWrite(path, () => createFile(path));
}

function standardOutput(stdout: Writable): Destination {
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  const onError = (): void => undefined;
  stdout.on("error", onError);
  return {
    write: (text) => tryToWrite("to standard output", () => write(text)),
    finish: () => Promise.resolve(ok()),
    close: () => {
      stdout.off("error", onError);
      return Promise.resolve();
    },
  };
}

async function openPipe(path: string): Promise<Destination> {
  const file = await open(path, "a");
  return {
    write: (text) => tryToWrite(path, () => file.appendFile(text)),
    finish: () => Promise.resolve(ok()),
    close: () => file.close(),
  };
}

/** Writes a file beside the target of a link, so that the link stays and points to the new file. */
async function createFile(path: string): Promise<Destination> {
  const target = await realpath(path).catch(() => path);
  // Two exports to the same path must not write to the same file.
  const unfinished = `${target}.${Buffer.from(systemRandom(6)).toString("hex")}.unfinished`;
  const file = await open(unfinished, "wx");
  const stop = listenForStop();
  const unlessStopped = (work: () => Promise<void>): Promise<Result<void, string>> =>
    stop.signal.aborted
      ? Promise.resolve(err("the export received a signal to stop"))
      : tryToWrite(path, work);
  return {
    write: (text) => unlessStopped(() => file.appendFile(text)),
    finish: () =>
      unlessStopped(async () => {
        await file.sync();
        await rename(unfinished, target);
        await syncDirectory(dirname(target));
      }),
    close: async () => {
      stop.end();
      await file.close();
      await rm(unfinished, { force: true });
    },
  };
}

/** Syncs a directory. Without this, a power failure can lose the new name of a file in it. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function tryToWrite<T>(path: string, work: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(`cannot write ${path}: ${describeFileError(error)}`);
  }
}
