import { existsSync, realpathSync, statSync } from "node:fs";
import { link, open, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { systemRandom } from "@petstore/core";
import { BackupRefusal } from "./backup-error.js";

/** What SQLite adds to the name of a database for the files beside it: a log, its index, a journal. */
const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** Throws when a backup would take the place of the database, or either's logs that of the other. */
export function refuseItself(filename: string, to: string): void {
  // SQLite follows a link before it names the log.
  const database = [filename, realpathSync(filename)].flatMap(filesOf).flatMap(tracesOf);
  const isItself = filesOf(to)
    .flatMap(tracesOf)
    .some((trace) => database.includes(trace));
  if (isItself) throw new BackupRefusal("destination_is_database");
}

/** Throws when there is something that may not be replaced. */
export function refuseToReplace(to: string): void {
  if (existsSync(to)) throw new BackupRefusal("destination_exists");
}

/** Makes an empty file beside the one to make, under a name that no other backup has. */
export async function createUnfinished(to: string): Promise<string> {
  const random = Buffer.from(systemRandom(6)).toString("hex");
  const unfinished = `${to}.unfinished-${process.pid}-${random}`;
  // The permissions that SQLite gives.
  await create(unfinished, 0o644);
  return unfinished;
}

/** Gives a file another name. Throws when that is taken, be it at the last moment. */
export async function giveFreeName(file: string, to: string): Promise<void> {
  const isLinked = await link(file, to).then(
    () => true,
    () => false,
  );
  if (isLinked) return unlink(file);
  // The name is taken, or a disk such as a memory stick knows no links: it is taken here then.
  await create(to);
  try {
    await rename(file, to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/** The names of a database and of all that SQLite keeps beside it. */
export function filesOf(database: string): readonly string[] {
  return ["", ...BESIDE].map((ending) => database + ending);
}

/** Throws when it is there. */
async function create(file: string, mode?: number): Promise<void> {
  await (await open(file, "wx", mode)).close();
}

/** What two names of one file have in common: the place, or what lies there. */
function tracesOf(path: string): readonly string[] {
  const folder = statSync(dirname(path), { bigint: true });
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const place = `${folder.dev}:${folder.ino}/${basename(path)}`;
  return file === undefined ? [place] : [place, `${file.dev}:${file.ino}`];
}
