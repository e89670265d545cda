import { spawnSync } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { codeOf } from "@petstore/core/facts";
import { systemRandom } from "@petstore/core/internal";
import type BetterSqlite3 from "better-sqlite3";
import { filesBeside, statAt, targetOf } from "./database-files.js";
import type { DatabaseConstructor, SqliteDatabase } from "./driver.js";
import { OpenRefusal } from "./open-storage-error.js";

/**
 * Each database file has a random mark, and so has each copy that a backup makes. It is SQLite's `application_id`, which
 * is on the first page of the file, and of the log when the log has this page.
 */
export function setMark(database: Pick<SqliteDatabase, "pragma">): void {
  // Never 0, which means that there is none.
  const mark = Buffer.from(systemRandom(4)).readInt32BE() | 1;
  database.pragma(`main.application_id = ${mark}`);
}

export function ensureMark(database: SqliteDatabase): void {
  if (Number(database.pragma("main.application_id", { simple: true })) === 0) setMark(database);
}

/** Puts the first page, with the mark, into the log: with the transaction around it, or with one of its own. */
export function markLog(database: SqliteDatabase): void {
  const version = Number(database.pragma("main.user_version", { simple: true }));
  database.exec(`pragma main.user_version = ${version}`);
}

/**
 * Opens a database file. Refuses it beside a log that has the mark of another one: the file was exchanged or moved
 * without its log, which SQLite would write into the file, or remove beside a new one. A log without the first page says
 * nothing. Also refuses it beside a file of another kind that has the name of a log, its index or a journal.
 */
export function openWithOwnLog(
  Database: DatabaseConstructor,
  path: string,
  options: BetterSqlite3.Options,
): BetterSqlite3.Database {
  // SQLite follows links before it adds a suffix.
  const file = targetOf(path);
  refuseForeign(file);
  const log = `${file}-wal`;
  const logsMark = withFile(log, markInLog);
  // SQLite takes an empty file for a new one.
  const isNew = (statAt(file)?.size ?? 0n) === 0n;
  const mark = logsMark && (isNew ? "none" : markInFile(file));
  if (!mark || mark === logsMark) return new Database(path, options);
  const message = `${log} belongs to another database, which was exchanged or moved without it. Move that database back, or remove ${log} and ${file}-shm.`;
  throw new OpenRefusal("cannot_open", message);
}

/** The first three bytes of a log and of a journal. One that a crash has left may begin with zeros. */
const STARTS = { "-wal": 0x377f06, "-journal": 0xd9d505 };

export function refuseForeign(file: string): void {
  // To open a pipe would wait for ever.
  const other = filesBeside(file).find((beside) => statAt(beside)?.isFile() === false);
  if (other !== undefined) throw foreign(other);
  // The index is pages, or 3 bytes when it is new. It has locks, which closing it would end.
  const size = statAt(`${file}-shm`)?.size ?? 0n;
  if (size !== 3n && size % 4_096n !== 0n) throw foreign(`${file}-shm`);
  for (const [suffix, start] of Object.entries(STARTS)) {
    const found = withFile(file + suffix, (read) => read(0, 3)?.readUIntBE(0, 3)) ?? 0;
    if (found !== 0 && found !== start) throw foreign(file + suffix);
  }
}

function foreign(path: string): OpenRefusal {
  const message = `SQLite would remove ${path}, which is no log of a database. Give it or the database another name.`;
  return new OpenRefusal("cannot_open", message);
}

/** Where the mark is on the first page (https://sqlite.org/fileformat2.html#the_database_header). */
const MARK_AT = 68;
const MAGIC = "SQLite format 3";

/**
 * Reads the mark in another process: where locks belong to the process (POSIX), closing the file here would end those of
 * every connection to it. `undefined` where no program can do it.
 */
function markInFile(file: string): number | undefined {
  if (process.platform === "win32") return withFile(file, (read) => markIn(read(0, MARK_AT + 4)));
  const args = ["-c", String(MARK_AT + 4), "--", file];
  const { status, stdout } = spawnSync("head", args, { timeout: 10_000 });
  if (typeof status !== "number") return undefined;
  if (status !== 0) throw new OpenRefusal("cannot_open", `${file} cannot be read.`);
  return markIn(stdout);
}

/** A file that is no database has no mark. */
function markIn(header: Buffer | undefined): number | undefined {
  const isDatabase = header?.length === MARK_AT + 4 && header.toString("latin1", 0, 15) === MAGIC;
  return isDatabase ? header.readInt32BE(MARK_AT) : undefined;
}

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

type Read = (position: number, length: number) => Buffer | undefined;

/** Returns the mark in the last frame of the first page that belongs to this run of the log. */
function markInLog(read: Read): number | undefined {
  const header = read(0, LOG_HEADER);
  // Zeros that a crash has left are no frames. SQLite ignores a log with smaller pages.
  if (header === undefined || header[0] === 0 || header.readUInt32BE(8) < 512) return undefined;
  const frame = FRAME_HEADER + header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  let mark: number | undefined;
  for (let at = LOG_HEADER; ; at += frame) {
    const next = read(at, FRAME_HEADER);
    if (!next?.subarray(8, 16).equals(salts)) return mark;
    if (next.readUInt32BE(0) === 1) mark = read(at + FRAME_HEADER + MARK_AT, 4)?.readInt32BE();
  }
}

/** `undefined` also if there is no file, or no longer. */
function withFile<T>(path: string, work: (read: Read) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return work((position, length) => {
      const bytes = Buffer.alloc(length);
      return readSync(file, bytes, 0, length, position) === length ? bytes : undefined;
    });
  } finally {
    closeSync(file);
  }
}
