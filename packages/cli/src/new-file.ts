import type { BigIntStats } from "node:fs";
import { link, lstat, open, rename, stat } from "node:fs/promises";
import { systemRandom } from "@petstore/core/internal";

/** Creates a file beside this path, under a name that no other file has. It gets the path as its name when complete. */
export async function createUnfinished(path: string, mode?: number) {
  const name = `${path}.${Buffer.from(systemRandom(6)).toString("hex")}.unfinished`;
  return { handle: await open(name, "ax", mode), name };
}

/** Gives a complete file its name. Throws if the name is taken, unless the file may be replaced. */
export async function complete(name: string, path: string, mayReplace: boolean): Promise<void> {
  if (mayReplace) return rename(name, path);
  // Some file systems have no links: then an empty file claims the name. The caller removes the first name.
  await link(name, path).catch(async () => {
    await (await open(path, "wx")).close();
    await rename(name, path);
  });
}

/** What is at a path; `undefined` if nothing is there, or access is denied. A link is followed, unless it leads nowhere. */
export async function fileAt(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => linkAt(path));
}

export async function linkAt(path: string): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined);
}

/** The mode of a file that is written from another one: its owner can write it, and it is at most as open to others. */
export function modeFrom(source: BigIntStats | undefined): number | undefined {
  return source && (Number(source.mode) & 0o666) | 0o600;
}

export function isSameFile(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}
