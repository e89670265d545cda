// What a backup is for: to be restored, or to be opened read-only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import {
  backupSqliteFile,
  openSqliteStorage,
  restoreSqliteFile,
  type RestoreOptions,
} from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import type { ResultAsync } from "neverthrow";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { failLook } from "./support/fail-look.js";
import { leaveLog, openStorage, petsIn, useFolder } from "./support/storage.js";
import { aKey, firstPage, rex, turns } from "../../storage-sql/test/support/samples.js";

const ADDING = "packages/storage-sqlite/test/adding-process.ts";
const program = useBundled("adding-process", [ADDING]);
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

const files = (): readonly string[] => readdirSync(dirname(filename)).sort();
const log = () => `${filename}-wal`;
const free = () => folder.path("free.db");
const exchanged = () => folder.path("exchanged.db");
const linked = () => folder.path("linked.db");
const codeOf = async (options: Partial<RestoreOptions> = {}): Promise<string> => {
  const refused = await restoreSqliteFile({ backup, filename, ...options });
  const { code, message } = refused._unsafeUnwrapErr();
  expect(message).toMatch(code === "damaged" ? /^The backup is damaged/ : /^\S.+\.$/);
  return code;
};

/** Lets the next call of a function of node:fs fail, until the test ends. */
function failOnce(name: "link" | "linkSync" | "writeFileSync", code: string): void {
  const error = Object.assign(new Error(code), { code });
  if (name === "link") vi.spyOn(fs.promises, name).mockRejectedValueOnce(error);
  else vi.spyOn(fs, name).mockImplementationOnce(() => raise(error));
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

const raise = (error: Error): never => {
  throw error;
};

describe("a restore", () => {
  it("replaces the database, also behind a link, and keeps the old one, with its mode, beside it", async () => {
    mkdirSync(folder.path("elsewhere"));
    const link = folder.path("elsewhere/link.db");
    symlinkSync(filename, link);
    chmodSync(filename, 0o600);
    // Of a newer version, which only added to the tables.
    new Database(backup).exec("insert into petstore_migrations values (99, 'newer', 0)").close();
    const owner = process.getuid?.() === 0 ? 1 : statSync(filename).uid;
    if (owner === 1) chownSync(filename, owner, owner);
    const restored = (await restoreSqliteFile({ backup, filename: link }))._unsafeUnwrap();
    const previous = restored.previous ?? "";
    expect(previous).toMatch(/pets\.db\.replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
    expect(restored.bytes).toBe(statSync(filename).size);
    expect([petsIn(link), petsIn(previous), petsIn(backup)]).toEqual([1, 2, 1]);
    expect(statSync(filename).mode & 0o777).toBe(0o600);
    expect(statSync(filename).uid).toBe(owner);
    expect(files()).toHaveLength(4);
  });

  it("makes its copy at most as open as the backup and the old database, from the first byte", async () => {
    chmodSync(filename, 0o600);
    chmodSync(backup, 0o664);
    const copies = () => files().filter((name) => name.includes("restored-"));
    const restoring = restoreSqliteFile({ backup, filename });
    const ended = new AbortController();
    void restoring.then(() => ended.abort());
    const modes = new Set<number>();
    while (!ended.signal.aborted) {
      for (const name of copies()) {
        const found = statSync(folder.path(name), { throwIfNoEntry: false });
        if (found) modes.add(found.mode & 0o777);
      }
      await turns(1);
    }
    expect((await restoring).isOk()).toBe(true);
    expect([...modes]).toEqual([0o600]);
  });

  it("creates a database from one with a log, and moves a log aside that has lost its database", async () => {
    const log = await leaveLog(filename);
    const created = folder.path("new.db");
    for (const end of ["-wal", "-shm"]) writeFileSync(created + end, log);
    const before = [filename, `${filename}-wal`].map((file) => readFileSync(file));
    const restored = await restoreSqliteFile({ backup: filename, filename: created });
    expect([filename, `${filename}-wal`].map((file) => readFileSync(file))).toEqual(before);
    expect(restored._unsafeUnwrap().previous).toBeUndefined();
    expect(petsIn(created)).toBe(3);
    const beside = files().filter((name) => name.startsWith("new.db"));
    expect(beside).toEqual(["new.db", expect.stringMatching(/^new\.db\.replaced-.*-wal$/)]);
    // Nothing has it open any more.
    expect((await restoreSqliteFile({ backup, filename })).isOk()).toBe(true);
  });

  it("keeps what is in the log of the old database, also if that is too damaged to be opened", async () => {
    await leaveLog(filename);
    const restored = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
    expect([petsIn(filename), petsIn(restored.previous ?? "")]).toEqual([1, 3]);
    expect(files()).toHaveLength(3);
    writeFileSync(filename, "mine".repeat(500));
    const { previous = "" } = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
    expect(petsIn(filename)).toBe(1);
    expect(readFileSync(previous, "utf8")).toBe("mine".repeat(500));
    expect(files()).toHaveLength(4);
  });
});

it("a backup and a restore need no links of the file system", async () => {
  const copy = folder.path("copy.db");
  failOnce("link", "EPERM");
  expect((await backupSqliteFile({ filename: backup, to: copy })).isOk()).toBe(true);
  failOnce("link", "EPERM");
  const { previous = "" } = (await restoreSqliteFile({ backup, filename }))._unsafeUnwrap();
  expect([petsIn(copy), petsIn(filename), petsIn(previous)]).toEqual([1, 1, 2]);
  expect(files()).toHaveLength(4);
});

describe("a restore is refused, and changes nothing,", () => {
  it.each([
    ["linkSync", "EPERM", "destination_in_use"],
    ["writeFileSync", "ENOSPC", "disk_full"],
  ] as const)("if %s fails where a damaged database is looked at", async (name, code, refusal) => {
    writeFileSync(filename, "mine".repeat(500));
    const before = files();
    failOnce(name, code);
    expect(await codeOf()).toBe(refusal);
    expect(files()).toEqual(before);
  });

  it("while a storage, a reader or a transaction uses the database", async () => {
    copyFileSync(backup, folder.path("sound.db"));
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
    const child = spawn(process.execPath, [program(ADDING), filename, "0", "wait"]);
    await once(child.stdout, "data");
    const sound = readFileSync(filename);
    writeFileSync(filename, Buffer.from(sound).fill("mine", 0, 512), { flag: "r+" });
    const before = files();
    expect(await codeOf()).toBe("destination_in_use");
    const replaced = await backupSqliteFile({ filename: backup, to: filename, overwrite: true });
    expect(replaced._unsafeUnwrapErr().code).toBe("destination_in_use");
    expect(files()).toEqual(before);
    writeFileSync(filename, sound, { flag: "r+" });
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
    const bytes = readFileSync(backup);
    writeFileSync(backup, bytes.fill(255, 4_096, 12_000));
    expect(await codeOf()).toBe("damaged");
    writeFileSync(backup, "mine".repeat(500));
    expect(await codeOf()).toBe("damaged");
    expect(files()).toEqual([...before, "odd.db"].sort());
    expect(petsIn(filename)).toBe(2);
  });

  it("beside the log of another database, which a backup refuses, too", async () => {
    await leaveLog(filename);
    writeFileSync(filename, readFileSync(backup));
    const before = [filename, `${filename}-wal`].map((file) => readFileSync(file));
    const to = folder.path("new.db");
    const refused = [
      await restoreSqliteFile({ backup, filename }),
      await restoreSqliteFile({ backup: filename, filename: to }),
      await backupSqliteFile({ filename: backup, to: filename, overwrite: true }),
      await backupSqliteFile({ filename, to }),
    ];
    const message = expect.stringMatching(`^${filename}-wal belongs to another`) as string;
    for (const each of refused)
      expect(each._unsafeUnwrapErr()).toMatchObject({ code: "failed", message });
    expect([filename, `${filename}-wal`].map((file) => readFileSync(file))).toEqual(before);
    expect(existsSync(to)).toBe(false);
  });

  it.each<[what: string, refused: () => ResultAsync<unknown, unknown>]>([
    ["a restore over a database in use", () => restoreSqliteFile({ backup, filename })],
    [
      "a backup over a database in use",
      () => backupSqliteFile({ filename: backup, to: filename, overwrite: true }),
    ],
    ["a backup beside a log", () => backupSqliteFile({ filename: backup, to: free() })],
    ["a restore over its own log", () => restoreSqliteFile({ backup: filename, filename: log() })],
    ["an opening beside another log", () => openSqliteStorage({ filename: exchanged() })],
    ["an opening by a second name", () => openSqliteStorage({ filename: linked() })],
  ])("also if any look at a file fails (EIO): %s", async (_, refused) => {
    const storage = await openStorage({ filename });
    await storage.pets.create(rex);
    for (const each of [free, exchanged]) writeFileSync(`${each()}-wal`, readFileSync(log()));
    copyFileSync(backup, exchanged());
    copyFileSync(backup, folder.path("second.db"));
    linkSync(folder.path("second.db"), linked());
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

  it("and no connection can open the database meanwhile", async () => {
    const restoring = restoreSqliteFile({ backup, filename });
    const ended = new AbortController();
    void restoring.then(() => ended.abort());
    const refusals = new Set<unknown>();
    while (!ended.signal.aborted) {
      const other = new Database(filename, { timeout: 0 });
      try {
        other.prepare("select count(*) from pets").get();
      } catch (error) {
        refusals.add(error instanceof Error ? error.message : error);
      }
      other.close();
      await turns(1);
    }
    expect([...refusals]).toEqual(["database is locked"]);
    expect((await restoring).isOk()).toBe(true);
    const storage = await openStorage({ filename });
    expect((await storage.pets.create(rex))._unsafeUnwrap().id).toBe(2n);
  });
});

describe("a backup that is opened read-only", () => {
  beforeEach(() => chmodSync(backup, 0o444));
  const refusal = async (file = backup) =>
    (await openSqliteStorage({ filename: file, readOnly: true }))._unsafeUnwrapErr().code;

  it("is read, and nothing is written to it or beside it", async () => {
    const [before, beside] = [readFileSync(backup), files()];
    const storage = await openStorage({ filename: backup, readOnly: true });
    expect((await storage.pets.list(firstPage))._unsafeUnwrap().pets).toHaveLength(1);
    expect((await storage.keys.find("a"))._unsafeUnwrap()?.key).toEqual(aKey("a"));
    expect((await storage.pets.create(rex))._unsafeUnwrapErr().message).toBe(
      "Adding a pet failed: the database is read-only (SQLITE_READONLY).",
    );
    expect(files()).toEqual(beside);
    expect((await storage.close()).isOk()).toBe(true);
    expect(readFileSync(backup).equals(before)).toBe(true);
  });

  it.each([
    ["schema_too_new", "insert into petstore_migrations values (1000, 'later', 1)"],
    ["read_only", "delete from petstore_migrations"],
    ["schema_conflict", "drop table petstore_migrations"],
  ])("is refused with %s if its schema is not this version's", async (code, change) => {
    chmodSync(backup, 0o644);
    new Database(backup).exec(change).close();
    expect(await refusal()).toBe(code);
  });

  it("is not created", async () => {
    const beside = files();
    expect(await refusal(folder.path("none.db"))).toBe("cannot_open");
    expect(files()).toEqual(beside);
  });
});
