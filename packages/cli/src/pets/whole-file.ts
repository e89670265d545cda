import { open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { systemRandom } from "@petstore/core";

/** A file that appears under its name when it is whole. */
export interface WholeFile {
  /** Adds to its end. Throws what writing throws. */
  append(text: string): Promise<void>;
  /** Puts it under its name, on the disk. Throws what keeps it from there. */
  publish(): Promise<void>;
  /** Closes it, and removes it unless it was published. */
  remove(): Promise<void>;
}

const RANDOM_BYTES = 6;

/**
 * Begins a file beside the one that it will replace; where that is a link, beside what it leads to. No two
 * of them are mixed, also when they are for one name.
 */
export async function openWholeFile(path: string): Promise<WholeFile> {
  const target = await realpath(path).catch(() => path);
  const mark = Buffer.from(systemRandom(RANDOM_BYTES)).toString("hex");
  const unfinished = `${target}.${process.pid}-${mark}.unfinished`;
  const file = await open(unfinished, "wx");
  return {
    append: (text) => file.appendFile(text),
    publish: async () => {
      await file.sync();
      await file.close();
      await rename(unfinished, target);
      await syncFolder(dirname(target));
    },
    remove: async () => {
      await file.close().catch(() => undefined);
      await rm(unfinished, { force: true });
    },
  };
}

/** Without it, a power cut may forget the new name. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
