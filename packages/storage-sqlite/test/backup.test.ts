import fs from "node:fs";
import { basename, dirname } from "node:path";
import type { Storage } from "@petstore/core/storage";
import { backupSqliteFile, restoreSqliteFile, type BackupOptions } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { beforeEach, expect, it, vi } from "vitest";
import { sized } from "../../../scripts/test-size.js";
import { backupError } from "../src/backup/backup-error.js";
import { leaveLog, modesDuring, openStorage, petsIn, useFolder } from "./support/storage.js";
import { aKey, meanwhile, rex, times, turns, watchSyncs } from "./support/storage.js";

const BATCHES = sized(5, 15, 15);
const folder = useFolder();
let filename: string;
let to: string;
let storage: Storage;
beforeEach(async () => {
  filename = folder.path("pets.db");
  to = folder.path("backup.db");
  storage = await openStorage({ filename });
});

async function add(count: number, name = "Rex"): Promise<void> {
  const created = await Promise.all(times(count, () => storage.pets.create({ ...rex, name })));
  expect(created.every((result) => result.isOk())).toBe(true);
}
const backupFiles = (): readonly string[] =>
  fs.readdirSync(dirname(to)).filter((name) => name.startsWith("backup"));
const codeOf = async (options: BackupOptions): Promise<string> => {
  const { code, message } = (await backupSqliteFile(options))._unsafeUnwrapErr();
  expect(message).toMatch(/^\S.+\.$/);
  return code;
};

it.each([
  ["busy", "SQLITE_BUSY"],
  ["damaged", "SQLITE_NOTADB", "SQLITE_CORRUPT_VTAB"],
  ["disk_full", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "ENOSPC", "EDQUOT"],
  ["cannot_write", "SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_IOERR_LOCK"],
  ["cannot_write", "EACCES", "EISDIR", "ENOENT", "ENOTDIR", "EPERM", "EROFS"],
  ["destination_exists", "EEXIST"],
  ["failed", "SQLITE_IOERR", "EIO"],
])("is %s after an error with a code of SQLite or of the system: %s", (code, ...causes) => {
  for (const cause of causes) {
    const error = Object.assign(new Error("It ended"), { code: cause });
    const told = cause.startsWith("SQLITE") ? ` \\(${cause}\\)` : "";
    const failed = `The backup failed: It ended${told}\\.$`;
    const reason = code === "failed" ? `^${failed}` : `^(?!${failed}).+\\.$`;
    const message: unknown = expect.stringMatching(reason);
    expect(backupError(error)).toEqual({ code, message, cause: error });
  }
});

it("is one file with all that was committed before it, opens as a storage, and no call waits", async () => {
  await storage.keys.insert(aKey("a"));
  for (let batch = 0; batch < BATCHES; batch += 1) await add(1_000, "x".repeat(2_000));
  let during = 0;
  const backup = await meanwhile(backupSqliteFile({ filename, to }), async () => {
    if (during === 1_000) return;
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    during += 1;
  });
  expect(backup._unsafeUnwrap().bytes).toBe(fs.statSync(to).size);
  const other = new Database(filename);
  expect(other.pragma("wal_checkpoint(truncate)")).toMatchObject([{ busy: 0 }]);
  other.close();
  expect(during).toBeLessThan(1_000);
  expect(during).toBeGreaterThan(5);
  expect(backupFiles()).toEqual(["backup.db"]);
  const pets = petsIn(to);
  expect(pets).toBeGreaterThanOrEqual(BATCHES * 1_000);
  expect(pets).toBeLessThanOrEqual(BATCHES * 1_000 + during);

  const restored = await openStorage({ filename: to });
  expect((await restored.keys.find("a"))._unsafeUnwrap()?.key).toEqual(aKey("a"));
  expect((await restored.pets.create(rex))._unsafeUnwrap().id).toBe(BigInt(pets + 1));
});

it("waits, without blocking the event loop, while another connection has an exclusive lock", async () => {
  const held = folder.path("held.db");
  const other = new Database(held);
  other.exec("create table petstore_migrations (number)");
  other.exec("create table pets (id); insert into pets values (1); begin exclusive");
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(dirname(to));
  const backup = backupSqliteFile({ filename: basename(held), to: basename(to) });
  cwd.mockRestore();
  await turns(1_000);
  other.exec("rollback");
  expect([(await backup).isOk(), petsIn(to)]).toEqual([true, 1]);
});

it("replaces a file, and logs that SQLite would replay over the backup, only with overwrite", async () => {
  await add(3);
  for (const ending of ["", "-wal", "-shm", "-journal"]) {
    fs.writeFileSync(`${to}${ending}`, "mine");
    const options = { filename, to, signal: AbortSignal.abort() };
    const { code, message } = (await backupSqliteFile(options))._unsafeUnwrapErr();
    expect(code).toBe("destination_exists");
    expect(message).toContain(`${ending && to}${ending || "The destination"} already exists`);
    fs.rmSync(`${to}${ending}`);
  }
  const leave = {
    "a database and its log": () => undefined,
    "a log without its database": () => fs.rmSync(to),
    "no database": () => fs.writeFileSync(to, "mine".repeat(500)),
  };
  for (const [left, change] of Object.entries(leave)) {
    fs.rmSync(to, { force: true });
    await leaveLog(to);
    change();
    expect(await codeOf({ filename, to })).toBe("destination_exists");
    const syncs = await watchSyncs();
    const replaced = await backupSqliteFile({ filename, to, overwrite: true });
    expect(syncs).toHaveBeenCalledTimes(3);
    vi.restoreAllMocks();
    expect([left, replaced.isOk(), petsIn(to)]).toEqual([left, true, 3]);
    expect(backupFiles()).toEqual(["backup.db"]);
  }
});

it("is checked, unless that is switched off", async () => {
  await add(100, "x".repeat(2_000));
  await storage.close();
  const bytes = fs.readFileSync(filename);
  const page = 4_096 * 20;
  const cell = bytes.subarray(page + 8, page + 12);
  cell.swap32().swap16();
  fs.writeFileSync(filename, bytes);
  expect(await codeOf({ filename, to })).toBe("damaged");
  fs.writeFileSync(folder.path("empty.db"), "");
  expect(await codeOf({ filename: folder.path("empty.db"), to })).toBe("not_a_store");
  expect(backupFiles()).toEqual([]);
  expect((await backupSqliteFile({ filename, to, check: false })).isOk()).toBe(true);
  const restored = await restoreSqliteFile({ backup: to, filename: folder.path("restored.db") });
  expect(restored._unsafeUnwrapErr().code).toBe("damaged");
});

it.each([0o600, 0o640, 0o400])("is never more open than a file of mode %i", async (mode) => {
  await add(1_000, "x".repeat(2_000));
  fs.chmodSync(filename, mode);
  const copies = () => backupFiles().map((name) => folder.path(name));
  const modes = await modesDuring(backupSqliteFile({ filename, to }), copies);
  expect(new Set([...modes].map((found) => found & 0o177 & ~mode))).toEqual(new Set([0]));
});

it("does not replace a database that another connection has open", async () => {
  const other = await openStorage({ filename: to });
  await other.pets.create(rex);
  const { ino } = fs.statSync(to);
  expect(await codeOf({ filename, to, overwrite: true })).toBe("destination_in_use");
  await other.pets.create(rex);
  await other.close();
  expect(fs.statSync(to).ino).toBe(ino);
  expect([backupFiles(), petsIn(to)]).toEqual([["backup.db"], 2]);
  expect((await backupSqliteFile({ filename, to, overwrite: true })).isOk()).toBe(true);
});

it("is complete or refused when several backups to one name run at the same time", async () => {
  await add(1_000);
  const atOnce = async (overwrite: boolean): Promise<readonly string[]> => {
    const backups = times(3, () => backupSqliteFile({ filename, to, overwrite }));
    const results = await Promise.all(backups);
    return results.map((backup) => (backup.isOk() ? "ok" : backup.error.code)).sort();
  };
  expect(await atOnce(false)).toEqual(["destination_exists", "destination_exists", "ok"]);
  expect(petsIn(to)).toBe(1_000);
  expect([await atOnce(true), petsIn(to)]).toEqual([["ok", "ok", "ok"], 1_000]);
  expect(backupFiles()).toEqual(["backup.db"]);
});

it("is aborted by its signal, and leaves no files behind", async () => {
  for (let batch = 0; batch < BATCHES; batch += 1) await add(1_000, "x".repeat(2_000));
  const [late, stop] = [new AbortController(), new AbortController()];
  await watchSyncs(() => late.abort());
  expect(await codeOf({ filename, to, signal: late.signal })).toBe("aborted");
  const backup = backupSqliteFile({ filename, to, signal: stop.signal });
  while (backupFiles().every((name) => fs.statSync(folder.path(name)).size === 0)) await turns(1);
  stop.abort();
  let copied = 0;
  const ended = backup.mapErr(({ code }) => (copied = Infinity) && code);
  while (copied < Infinity) {
    const sizes = backupFiles().map(
      (name) => fs.statSync(folder.path(name), { throwIfNoEntry: false })?.size ?? 0,
    );
    expect(Math.max(...sizes)).toBeLessThan(fs.statSync(filename).size * 0.9);
    await turns(1);
  }
  expect([(await ended)._unsafeUnwrapErr(), backupFiles()]).toEqual(["aborted", []]);
});

it("fails with a code that names the cause, and leaves no files behind", async () => {
  expect(await codeOf({ filename: folder.path("missing.db"), to })).toBe("no_database");
  expect(await codeOf({ filename: dirname(filename), to })).toBe("no_database");
  const pipe = folder.pipe("pipe.db");
  expect(await codeOf({ filename: pipe, to })).toBe("no_database");
  expect(await codeOf({ filename, to: pipe, overwrite: true })).toBe("cannot_write");
  const notes = folder.path("notes.txt");
  fs.writeFileSync(notes, "Buy dog food.\n".repeat(500));
  expect(await codeOf({ filename: notes, to })).toBe("damaged");
  const unreadable = folder.path("unreadable.db");
  new Database(unreadable).exec("pragma journal_mode = wal; create table pets (id)").close();
  fs.symlinkSync("missing/index", `${unreadable}-shm`);
  expect(await codeOf({ filename: unreadable, to })).toBe("no_database");
  fs.renameSync(notes, `${notes}-journal`);
  expect(await codeOf({ filename, to: notes, overwrite: true })).toBe("failed");
  expect(fs.existsSync(`${notes}-journal`)).toBe(true);
  expect(await codeOf({ filename, to: folder.path("missing/backup.db") })).toBe("cannot_write");
  expect(backupFiles()).toEqual([]);
  fs.mkdirSync(to);
  expect(await codeOf({ filename, to, overwrite: true })).toBe("cannot_write");
  fs.rmdirSync(to);
  fs.symlinkSync("/dev/null", to);
  expect(await codeOf({ filename, to, overwrite: true })).toBe("cannot_write");
  expect(backupFiles()).toEqual(["backup.db"]);
});

it("never replaces the database or its logs, whatever their paths", async () => {
  await add(3);
  fs.mkdirSync(folder.path("elsewhere"));
  fs.symlinkSync(folder.path("."), folder.path("elsewhere/folder"));
  fs.symlinkSync(filename, folder.path("elsewhere/link.db"));
  fs.linkSync(filename, folder.path("elsewhere/hard.db"));
  fs.linkSync(`${filename}-wal`, folder.path("elsewhere/hard-log"));
  const { ino } = fs.statSync(filename);
  const names = [
    ...["pets.db", "elsewhere/../pets.db", "elsewhere/folder/pets.db", "elsewhere/link.db"],
    ...["elsewhere/hard.db", "pets.db-wal", "pets.db-shm", "pets.db-journal"],
    ...["elsewhere/folder/pets.db-journal", "elsewhere/hard-log"],
  ];
  for (const name of names) {
    for (const from of [filename, folder.path("elsewhere/link.db")]) {
      const backup = { filename: from, to: folder.path(name), overwrite: true };
      expect([name, await codeOf(backup)]).toEqual([name, "destination_is_database"]);
    }
  }
  expect([fs.statSync(filename).ino, petsIn(filename)]).toEqual([ino, 3]);
  // A database whose name looks like another one's log.
  const odd = { filename: folder.path("odd.db-wal"), to: folder.path("odd.db"), overwrite: true };
  (await backupSqliteFile({ filename, to: odd.filename }))._unsafeUnwrap();
  expect(await codeOf(odd)).toBe("destination_is_database");
});
