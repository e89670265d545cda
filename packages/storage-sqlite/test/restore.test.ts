import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { dirname } from "node:path";
import { backupSqliteFile, isFileOfDatabase, openSqliteStorage } from "@petstore/storage-sqlite";
import { restoreSqliteFile, type RestoreOptions } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import type { ResultAsync } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { failLook } from "./support/fail-look.js";
import { leaveLog, modesDuring, openFiles, openStorage, petsIn } from "./support/storage.js";
import { applyMocks, useFolder, watchSyncs } from "./support/storage.js";
import { aKey, firstPage, meanwhile, rex } from "./support/storage.js";

const program = useBundled("adding-process", ["packages/storage-sqlite/test/adding-process.ts"]);
const folder = useFolder();
let filename: string;
let backup: string;

/** A backup with one pet and one key, and a database with two pets. */
beforeEach(async () => {
  filename = folder.path("pets.db");
  backup = folder.path("backup.db");
  const storage = await openStorage({ filename });
  await storage.pets.create(rex);
  await storage.keys.insert(aKey("a"));
  (await backupSqliteFile({ filename, to: backup }))._unsafeUnwrap();
  await storage.pets.create(rex);
  await storage.close();
});

const files = (): readonly string[] => fs.readdirSync(dirname(filename)).sort();
const log = () => `${filename}-wal`;
const free = () => folder.path("free.db");
const exchanged = () => folder.path("exchanged.db");
const linked = () => folder.path("linked.db");
const backUpOver = () => backupSqliteFile({ filename: backup, to: filename, overwrite: true });
const codeOf = async (options: Partial<RestoreOptions> = {}): Promise<string> => {
  const refused = await restoreSqliteFile({ backup, filename, ...options });
  const { code, message } = refused._unsafeUnwrapErr();
  expect(message).toMatch(code === "damaged" ? /^The backup is damaged/ : /^\S.+\.$/);
  return code;
};

/** Lets all calls of a function of node:fs fail, until the test ends; or the next one, if others are needed. */
function fail(name: "link" | "linkSync" | "writeFileSync" | "statSync", code: string): void {
  const error = Object.assign(new Error(code), { code });
  if (name === "link") vi.spyOn(fs.promises, name).mockRejectedValue(error);
  else
    vi.spyOn(fs, name).mockImplementationOnce(() => {
      throw error;
    });
  applyMocks();
}

it("a restore replaces the database, also behind a link, and keeps the old one, with its mode, beside it", async () => {
  fs.mkdirSync(folder.path("elsewhere"));
  const link = folder.path("elsewhere/link.db");
  fs.symlinkSync(filename, link);
  fs.chmodSync(filename, 0o640);
  fs.chmodSync(backup, 0o600);
  new Database(backup).exec("insert into petstore_migrations values (99, 'newer', 0)").close();
  const owner = process.getuid?.() === 0 ? 1 : fs.statSync(filename).uid;
  if (owner === 1) fs.chownSync(filename, owner, owner);
  const syncs = await watchSyncs();
  const restored = (await restoreSqliteFile({ backup, filename: link }))._unsafeUnwrap();
  expect(syncs).toHaveBeenCalledTimes(3);
  const previous = restored.previous ?? "";
  expect(previous).toMatch(/pets\.db\.replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
  expect(restored.bytes).toBe(fs.statSync(filename).size);
  expect([petsIn(link), petsIn(previous), petsIn(backup)]).toEqual([1, 2, 1]);
  const { mode, uid } = fs.statSync(filename);
  expect([mode & 0o777, uid, files().length]).toEqual([0o640, owner, 4]);
});

it("a restore makes its copy at most as open as the backup and the old database, from the first byte", async () => {
  fs.chmodSync(filename, 0o640);
  fs.chmodSync(backup, 0o664);
  const copies = () =>
    files().flatMap((name) => (name.includes("restored-") ? folder.path(name) : []));
  const modes = await modesDuring(restoreSqliteFile({ backup, filename }), copies);
  expect([...modes]).toEqual([0o640]);
});

it("a restore creates a database from one with a log, and moves a log aside that has lost its database", async () => {
  const log = await leaveLog(filename);
  const created = folder.path("new.db");
  fs.writeFileSync(`${created}-wal`, log);
  fs.writeFileSync(`${created}-shm`, Buffer.alloc(32_768));
  const before = [filename, `${filename}-wal`].map((file) => fs.readFileSync(file));
  const restored = await restoreSqliteFile({ backup: filename, filename: created });
  expect([filename, `${filename}-wal`].map((file) => fs.readFileSync(file))).toEqual(before);
  expect(restored._unsafeUnwrap().previous).toBeUndefined();
  expect(petsIn(created)).toBe(3);
  const beside = files().filter((name) => name.startsWith("new.db"));
  expect(beside).toEqual(["new.db", expect.stringMatching(/^new\.db\.replaced-.*-wal$/)]);
  expect((await restoreSqliteFile({ backup, filename })).isOk()).toBe(true);
});

it("a restore keeps what is in the log of the old database, also if that is too damaged to be opened", async () => {
  await leaveLog(filename);
  const restored = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
  expect([petsIn(filename), petsIn(restored.previous ?? "")]).toEqual([1, 3]);
  expect(files()).toHaveLength(3);
  fs.writeFileSync(filename, "mine".repeat(500));
  const { previous = "" } = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
  expect([petsIn(filename), fs.readFileSync(previous, "utf8")]).toEqual([1, "mine".repeat(500)]);
  expect(files()).toHaveLength(4);
});

it("a backup and a restore need no links of the file system", async () => {
  const copy = folder.path("copy.db");
  fail("link", "EPERM");
  expect((await backupSqliteFile({ filename: backup, to: copy })).isOk()).toBe(true);
  const { previous = "" } = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
  expect([petsIn(copy), petsIn(filename), petsIn(previous)]).toEqual([1, 1, 2]);
  expect(files()).toHaveLength(4);
});

it.each(["EACCES", "ELOOP", "ENAMETOOLONG"])("no database has a file at a path with %s", (code) => {
  fail("statSync", code);
  expect(isFileOfDatabase(backup, filename)).toBe(false);
});

describe("a restore is refused, and changes nothing,", () => {
  it.each([
    ["linkSync", "EPERM", "destination_in_use"],
    ["writeFileSync", "ENOSPC", "disk_full"],
  ] as const)("if %s fails where a damaged database is looked at", async (name, code, refusal) => {
    fs.writeFileSync(filename, "mine".repeat(500));
    const before = files();
    fail(name, code);
    expect([await codeOf(), files()]).toEqual([refusal, before]);
  });

  it("while a storage, a reader or a transaction uses the database", async () => {
    fs.copyFileSync(backup, folder.path("sound.db"));
    const storage = await openStorage({ filename });
    expect(await codeOf()).toBe("destination_in_use");
    expect((await storage.pets.create(rex)).isOk()).toBe(true);
    await storage.close();
    for (const file of [filename, backup]) {
      const other = new Database(file);
      for (const use of ["begin", "begin immediate", "begin exclusive"]) {
        other.exec(`${use}; select * from pets`);
        // A backup has no log, and its reader only a lock.
        const options = { backup: folder.path("sound.db"), filename: file };
        expect([use, await codeOf(options)]).toEqual([use, "destination_in_use"]);
        other.exec("rollback");
      }
      other.close();
    }
    expect(petsIn(filename)).toBe(3);
  });

  it("also to a backup, while another process uses the database, however damaged its header is", async () => {
    const child = spawn(process.execPath, [program(), filename, "0", "wait"]);
    await once(child.stdout, "data");
    const sound = fs.readFileSync(filename);
    fs.writeFileSync(filename, Buffer.from(sound).fill("mine", 0, 512), { flag: "r+" });
    const before = files();
    expect(await codeOf()).toBe("destination_in_use");
    expect((await backUpOver())._unsafeUnwrapErr().code).toBe("destination_in_use");
    expect(files()).toEqual(before);
    fs.writeFileSync(filename, sound, { flag: "r+" });
    child.stdin.end();
    await once(child, "exit");
    expect(petsIn(filename)).toBe(2);
  });

  it("if it is aborted, or the backup is missing, damaged, something else, newer, or the database itself", async () => {
    const pipe = folder.pipe("pipe.db");
    const before = files();
    expect(await codeOf({ backup: pipe })).toBe("no_database");
    expect(await codeOf({ filename: pipe })).toBe("cannot_write");
    expect(await codeOf({ signal: AbortSignal.abort() })).toBe("aborted");
    expect(await codeOf({ backup: folder.path("missing.db") })).toBe("no_database");
    expect(await codeOf({ backup: filename })).toBe("destination_is_database");
    expect(await codeOf({ filename: folder.path("missing/pets.db") })).toBe("cannot_write");
    new Database(folder.path("odd.db")).exec("create table pets (id)").close();
    expect(await codeOf({ backup: folder.path("odd.db") })).toBe("not_a_store");
    for (const change of ["values (99, 'newer', 1)", "values (100, 'newest', 0)"])
      new Database(backup).exec(`insert into petstore_migrations ${change}`).close();
    expect(await codeOf()).toBe("schema_too_new");
    fs.writeFileSync(backup, fs.readFileSync(backup).fill(255, 4_096, 12_000));
    expect(await codeOf()).toBe("damaged");
    fs.writeFileSync(backup, "mine".repeat(500));
    expect(await codeOf()).toBe("damaged");
    const copied = await backupSqliteFile({ filename: backup, to: free() });
    expect(copied._unsafeUnwrapErr().code).toBe("damaged");
    expect([files(), petsIn(filename)]).toEqual([[...before, "odd.db"].sort(), 2]);
    expect(openFiles(dirname(filename))).toEqual([]);
  });

  it("beside the log of another database, which a backup refuses, too", async () => {
    await leaveLog(filename);
    fs.writeFileSync(filename, fs.readFileSync(backup));
    const before = [filename, `${filename}-wal`].map((file) => fs.readFileSync(file));
    const to = folder.path("new.db");
    const refused = [
      await restoreSqliteFile({ backup, filename }),
      await restoreSqliteFile({ backup: filename, filename: to }),
      await backUpOver(),
      await backupSqliteFile({ filename, to }),
    ];
    const message = expect.stringMatching(`^${filename}-wal belongs to another`) as string;
    for (const each of refused)
      expect(each._unsafeUnwrapErr()).toMatchObject({ code: "failed", message });
    expect([filename, `${filename}-wal`].map((file) => fs.readFileSync(file))).toEqual(before);
    expect(fs.existsSync(to)).toBe(false);
  });

  it.each<[what: string, refused: () => ResultAsync<unknown, unknown>]>([
    ["a restore over a database in use", () => restoreSqliteFile({ backup, filename })],
    ["a backup over a database in use", () => backUpOver()],
    ["a backup beside a log", () => backupSqliteFile({ filename: backup, to: free() })],
    ["a restore over its own log", () => restoreSqliteFile({ backup: filename, filename: log() })],
    ["an opening beside another log", () => openSqliteStorage({ filename: exchanged() })],
    ["an opening by a second name", () => openSqliteStorage({ filename: linked() })],
  ])("also if any look at a file fails (EIO): %s", async (_, refused) => {
    const storage = await openStorage({ filename });
    await storage.pets.create(rex);
    for (const each of [free, exchanged]) fs.writeFileSync(`${each()}-wal`, fs.readFileSync(log()));
    fs.copyFileSync(backup, exchanged());
    fs.copyFileSync(backup, folder.path("second.db"));
    fs.linkSync(folder.path("second.db"), linked());
    const before = files();
    for (let [at, looks] = [1, Infinity]; at <= looks + 1; at += 1) {
      const countLooks = failLook(at);
      expect([at, (await refused()).isErr()]).toEqual([at, true]);
      looks = countLooks();
      expect(files()).toEqual(before);
    }
    (await storage.close())._unsafeUnwrap();
    expect(petsIn(filename)).toBe(3);
  });

  it.each([
    ["restore", () => restoreSqliteFile({ backup, filename: free() })],
    ["backup", () => backupSqliteFile({ filename: backup, to: free(), overwrite: true })],
  ] as const)("if a server starts on a free file when a %s is nearly done", async (_, write) => {
    let other: Database.Database | undefined;
    const syncs = await watchSyncs(() => {
      if (syncs.mock.calls.length !== 2) return;
      other = new Database(free()).exec("pragma journal_mode = wal; create table pets (id)");
    });
    expect((await write())._unsafeUnwrapErr().code).toBe("destination_in_use");
    other?.exec("insert into pets values (1)").close();
    expect(petsIn(free())).toBe(1);
    expect(files().filter((name) => /restored|unfinished/.test(name))).toEqual([]);
  });

  it("and no connection can open the database meanwhile", async () => {
    const refusals = new Set<unknown>();
    const restored = await meanwhile(restoreSqliteFile({ backup, filename }), () => {
      const other = new Database(filename, { timeout: 0 });
      try {
        other.prepare("select count(*) from pets").get();
      } catch (error) {
        refusals.add(error instanceof Error ? error.message : error);
      }
      other.close();
    });
    expect([[...refusals], restored.isOk()]).toEqual([["database is locked"], true]);
    expect((await (await openStorage({ filename })).pets.create(rex))._unsafeUnwrap().id).toBe(2n);
  });
});

describe("a backup that is opened read-only", () => {
  beforeEach(() => fs.chmodSync(backup, 0o444));
  const refusal = async (file = backup) =>
    (await openSqliteStorage({ filename: file, readOnly: true }))._unsafeUnwrapErr().code;

  it("is read, not created, and nothing is written to it or beside it", async () => {
    const [before, beside] = [fs.readFileSync(backup), files()];
    const storage = await openStorage({ filename: backup, readOnly: true });
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(1);
    expect((await storage.keys.find("a"))._unsafeUnwrap()?.key).toEqual(aKey("a"));
    expect((await storage.pets.create(rex))._unsafeUnwrapErr().message).toContain("READONLY");
    expect(await refusal(folder.path("none.db"))).toBe("cannot_open");
    expect([files(), (await storage.close()).isOk()]).toEqual([beside, true]);
    expect(fs.readFileSync(backup).equals(before)).toBe(true);
  });

  it.each([
    ["schema_too_new", "insert into petstore_migrations values (1000, 'later', 1)"],
    ["read_only", "delete from petstore_migrations"],
    ["schema_conflict", "drop table petstore_migrations"],
  ])("is refused with %s if its schema is not this version's", async (code, change) => {
    fs.chmodSync(backup, 0o644);
    new Database(backup).exec(change).close();
    expect(await refusal()).toBe(code);
  });
});
