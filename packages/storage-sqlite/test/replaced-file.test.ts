import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Storage, StorageWarning } from "@petstore/core/storage";
import { backupSqliteFile, openSqliteStorage } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { failLook } from "./support/fail-look.js";
import { aKey, allIds, firstPage, openFiles, openStorage, rex } from "./support/storage.js";
import { useFolder } from "./support/storage.js";

const program = useBundled("adding-process", ["packages/storage-sqlite/test/adding-process.ts"]);
const folder = useFolder();
let path: string;
let storage: Storage;
let warnings: StorageWarning[];
let time: number;
beforeEach(async () => {
  time = 0;
  vi.spyOn(performance, "now").mockImplementation(() => time);
  path = folder.path("pets.db");
  storage = await openWatched();
  (await storage.pets.create(rex))._unsafeUnwrap();
  (await storage.keys.insert(aKey("a")))._unsafeUnwrap();
});
afterEach(async () => {
  await storage.close();
  vi.restoreAllMocks();
});

async function openWatched(): Promise<Storage> {
  const opened = await openStorage({ filename: path });
  warnings = [];
  opened.onWarning?.((warning) => warnings.push(warning));
  opened.onWarning?.(() => undefined);
  return opened;
}

async function reopen(): Promise<readonly bigint[]> {
  await storage.close();
  storage = await openWatched();
  return allIds(storage);
}

/** Replaces the file at this path by a copy, as `mv` does. This process does not open it: that would end its locks. */
function replace(file: string): void {
  spawnSync("cp", [file, folder.path("copy")]);
  fs.renameSync(folder.path("copy"), file);
}

const refusal = (filename = path) =>
  openSqliteStorage({ filename }).match(String, ({ code, message }) => `${code} ${message}`);
const backUp = async (to = folder.path("backup.db")) =>
  (await backupSqliteFile({ filename: path, to })).map(() => to)._unsafeUnwrap();
const create = () => storage.pets.create(rex);
const list = () => storage.pets.list(firstPage);
const charge = () =>
  storage.usage.charge("digest of a", (presented) => ({ next: presented?.usage, result: 0 }));
const reads = [list, charge, () => storage.pets.find(1n), () => storage.keys.find("a")];
const calls = [create, () => storage.keys.insert(aKey("b")), ...reads];

async function failLater(milliseconds: number, ...made: typeof calls): Promise<boolean[]> {
  time += milliseconds;
  const failed: boolean[] = [];
  for (const call of made) failed.push((await call()).isErr());
  return failed;
}

describe.each<[happened: string, happen: () => void]>([
  ["file is removed", () => fs.rmSync(path)],
  ["file is renamed", () => fs.renameSync(path, folder.path("elsewhere.db"))],
  ["file is replaced", () => replace(path)],
  ["log is removed", () => fs.rmSync(`${path}-wal`)],
  ["log is replaced", () => replace(`${path}-wal`)],
  ["shared memory is removed", () => fs.rmSync(`${path}-shm`)],
  ["shared memory is replaced", () => replace(`${path}-shm`)],
  ["three files are replaced", () => ["", "-wal", "-shm"].forEach((end) => replace(path + end))],
])("when its %s", (_, happen) => {
  it("a storage acknowledges no pet and no key, and then every call fails", async () => {
    happen();
    const together = await Promise.all([create(), create()]);
    const message =
      "All calls fail until the server is restarted: the database file, its log or its shared memory was removed or replaced.";
    for (const created of together) expect(created._unsafeUnwrapErr().message).toBe(message);
    for (const call of calls) expect(await call()).toMatchObject({ error: { message } });
    expect(warnings).toEqual([{ code: "database_replaced", message }]);
  });

  it("a storage whose folder was quiet acknowledges no pet, either", async () => {
    for (const pause of [100, 100]) expect(await failLater(pause, create)).toEqual([false]);
    // The clock of files may advance in steps of some milliseconds.
    await setTimeout(30);
    happen();
    expect(await failLater(0, create, charge)).toEqual([true, true]);
    expect(warnings).toHaveLength(1);
  });

  it("a storage whose folder has just changed acknowledges no pet, even if the folder keeps its time", async () => {
    const seconds = 1_000_000_000;
    fs.utimesSync(dirname(path), seconds, seconds);
    expect(await failLater(100, create)).toEqual([false]);
    happen();
    fs.utimesSync(dirname(path), seconds, seconds);
    expect(await failLater(0, create)).toEqual([true]);
  });

  it("a charge fails after 100 ms", async () => {
    happen();
    expect([await failLater(99, charge), await failLater(1, charge)]).toEqual([[false], [true]]);
    expect(warnings).toHaveLength(1);
  });
});

it.each(reads)("a read notices it, too, after 100 ms (%#)", async (read) => {
  fs.rmSync(path);
  expect([await failLater(99, read), await failLater(1, read)]).toEqual([[false], [true]]);
});

it("a storage whose file was replaced works again when it is opened again", async () => {
  fs.renameSync(path, folder.path("elsewhere.db"));
  expect((await create()).isErr()).toBe(true);
  fs.renameSync(folder.path("elsewhere.db"), path);
  expect([(await create()).isErr(), (await storage.close()).isOk()]).toEqual([true, true]);
  storage = await openWatched();
  expect((await create())._unsafeUnwrap().id).toBe(2n);
});

it.each(["-shm", "-wal -shm"])("what others stored is kept after the loss of %s", async (ends) => {
  for (const end of ends.split(" ")) fs.rmSync(path + end);
  expect(spawnSync(process.execPath, [program(), path, "3"]).status).toBe(0);
  expect((await create()).isErr()).toBe(true);
  expect(await reopen()).toHaveLength(ends.includes("-wal") ? 3 : 4);
});

it("a relative name in a folder that is gone is an error, and throws nothing", async () => {
  const gone = Object.assign(new Error("gone"), { code: "ENOENT", syscall: "uv_cwd" });
  const cwd = vi.spyOn(process, "cwd").mockThrow(gone);
  const opening = openSqliteStorage({ filename: " pets.db" });
  const copying = backupSqliteFile({ filename: "pets.db", to: "backup.db" });
  cwd.mockRestore();
  const codes = [await opening, await copying].map((result) => result._unsafeUnwrapErr().code);
  expect(codes).toEqual(["cannot_open", "cannot_write"]);
});

it.each(["works", "fails"])("what another process stored is kept, if a look %s", async (how) => {
  await storage.close();
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(dirname(path));
  const opening = openStorage({ filename: basename(path) });
  cwd.mockRestore();
  storage = await opening;
  // The newest first page is far behind the end of the other logs.
  const large = { ...rex, name: "x".repeat(100_000) };
  for (let pet = 0; pet < 3; pet += 1) (await storage.pets.create(large))._unsafeUnwrap();
  for (const end of ["-wal", "-shm"]) fs.rmSync(path + end);
  expect(spawnSync(process.execPath, [program(), path, "3"]).status).toBe(0);
  const child = spawn(process.execPath, [program(), path, "3", "wait"]);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  const endLooks = failLook(how === "fails" ? 1 : Infinity);
  expect((await storage.close()).isOk()).toBe(true);
  endLooks();
  storage = await openWatched();
  expect((await allIds(storage)).length).toBeGreaterThanOrEqual(7);
});

it.each([
  ["replaced", 21, [1n]],
  ["renamed", 21, []],
  ["renamed and used by another process", 3, []],
  ["renamed and changed by another process", 3, []],
])(
  "a storage whose file was %s leaves it %i pets, and no log for a new file",
  async (how, old, ids) => {
    const [backup, other] = [await backUp(), folder.path("old.db")];
    for (let pet = 0; pet < 20; pet += 1) await create();
    fs.renameSync(path, other);
    if (how === "replaced") fs.renameSync(backup, path);
    const args = [program(), other, "3", "wait"];
    const child = how.endsWith("process") ? spawn(process.execPath, args) : undefined;
    if (child) await once(child.stdout, "data");
    const end = async () => {
      child?.stdin.end();
      if (child?.exitCode === null) await once(child, "exit");
    };
    if (how.includes("changed")) await end();
    if (how === "replaced") expect((await create()).isErr()).toBe(true);
    expect((await storage.close()).isOk()).toBe(true);
    if (child) {
      expect(await refusal()).toContain("moved without it");
      fs.rmSync(`${path}-wal`);
      await end();
    }
    expect(await reopen()).toEqual(ids);
    expect(await allIds(await openStorage({ filename: other }))).toHaveLength(old);
  },
);

it("a file that was moved to another file system leaves its log, which no new file removes, also by a link", async () => {
  const [other, link] = [folder.path("other.db"), folder.path("link.db")];
  for (let pet = 0; pet < 20; pet += 1) await create();
  spawnSync("cp", [path, other]);
  fs.rmSync(path);
  expect((await storage.close()).isOk()).toBe(true);
  fs.symlinkSync("pets.db", link);
  for (const name of [path, link]) expect(await refusal(name)).toContain("moved without it");
  fs.writeFileSync(path, "");
  for (const name of [path, link]) expect(await refusal(name)).toContain("moved without it");
  fs.renameSync(`${path}-wal`, `${other}-wal`);
  expect(await allIds(await openStorage({ filename: other }))).toHaveLength(21);
});

it.each([0, 2])("a storage whose file is replaced while it opens uses the new one", async (at) => {
  const backup = await backUp();
  await create();
  await storage.close();
  const pragma = vi.spyOn(Database.prototype, "pragma");
  for (let before = 0; before < at; before += 1) pragma.mockReturnValueOnce(undefined);
  pragma.mockImplementationOnce(() => fs.renameSync(backup, path));
  storage = await openWatched();
  expect([(await create())._unsafeUnwrap().id, await reopen()]).toEqual([2n, [1n, 2n]]);
});

it("a storage that only reads is closed after its file was renamed", async () => {
  await storage.close();
  const reading = await openStorage({ filename: path, readOnly: true });
  fs.renameSync(path, folder.path("other.db"));
  expect((await reading.close()).isOk()).toBe(true);
});

it("a storage whose file was replaced keeps a backup that was copied into it (cp) after its log was removed", async () => {
  const backup = await backUp();
  for (let pet = 0; pet < 20; pet += 1) await create();
  for (const end of ["-wal", "-shm"]) fs.rmSync(path + end);
  spawnSync("cp", [backup, path]);
  expect([(await create()).isErr(), await reopen()]).toEqual([true, [1n]]);
});

it("a storage whose file was replaced is refused beside the log of another one, as a killed process leaves it", async () => {
  const backup = await backUp();
  const log = folder.path("left");
  await reopen();
  await charge();
  fs.copyFileSync(`${path}-wal`, log);
  await storage.close();
  fs.renameSync(backup, path);
  fs.copyFileSync(log, `${path}-wal`);
  for (const value of [process.platform, "win32"]) {
    const platform = vi.spyOn(process, "platform", "get").mockReturnValue(value as "win32");
    expect(await refusal()).toContain(`cannot_open ${path}-wal belongs to another database`);
    platform.mockRestore();
  }
  fs.writeFileSync(folder.path("head"), "#!/bin/sh\nexit 1", { mode: 0o755 });
  vi.stubEnv("PATH", dirname(path));
  expect(await refusal()).toBe(`cannot_open ${path} cannot be read.`);
  vi.unstubAllEnvs();
  // With a first page and its mark, but pages of 0 bytes, or no whole header: SQLite ignores it.
  const noLog = `${"377f0682".padEnd(64, "0")}${"00000001".padEnd(184, "0")}00000007`;
  for (const left of [noLog.padEnd(400, "0"), "377f06820000000000001000"]) {
    await storage.close();
    fs.writeFileSync(`${path}-wal`, Buffer.from(left, "hex"));
    expect(await reopen()).toEqual([1n]);
  }
});

it("a storage whose file was replaced is not opened by another name, which would have a log of its own", async () => {
  const other = folder.path("other.db");
  fs.linkSync(path, other);
  for (const filename of [path, other])
    expect(await refusal(filename)).toMatch(/^cannot_open .* 2 names \(hard links\)/);
  expect((await create()).isOk()).toBe(true);
  fs.rmSync(other);
});

it.each(["pets.db-wal", "links/pets.db"])("behind a link, a loss is noticed: %s", async (lost) => {
  fs.mkdirSync(folder.path("links"));
  const link = folder.path("links/pets.db");
  fs.symlinkSync(path, link);
  const linked = await openStorage({ filename: link });
  const add = () => linked.pets.create(rex);
  for (const pause of [100, 100]) expect(await failLater(pause, add)).toEqual([false]);
  await setTimeout(30);
  fs.rmSync(folder.path(lost));
  expect(await failLater(0, add)).toEqual([true]);
});

it("a storage whose file was replaced is noticed in a host's database, too, and keeps no other file open", async () => {
  const database = new Database(folder.path("host.db"));
  const before = openFiles("/fdinfo/");
  for (let at = 1; at < 10; at += 1) {
    const endLooks = failLook(at);
    await openSqliteStorage({ database }).map((opened) => opened.close());
    endLooks();
  }
  const hosts = await openStorage({ database });
  fs.rmSync(folder.path("host.db-shm"));
  expect((await hosts.pets.create(rex)).isErr()).toBe(true);
  expect([(await hosts.pets.list(firstPage)).isErr(), database.open]).toEqual([true, true]);
  expect(openFiles("/fdinfo/")).toEqual(before);
});

it("a look that fails (EIO) fails its call only, and no pet is lost or doubled", async () => {
  let [at, isFailing] = [0, true];
  while (isFailing) {
    fs.writeFileSync(folder.path(`other-${(at += 1)}`), "");
    const endLooks = failLook(at);
    const failed = await failLater(100, create);
    isFailing = endLooks() >= at;
    expect([at, ...failed, ...(await failLater(0, create))]).toEqual([at, isFailing, false]);
  }
  expect(await allIds(storage)).toHaveLength(at + 2);
  expect(warnings).toEqual([]);
});

it("other connections, checkpoints and backups are no replacement", async () => {
  const disturbances = [
    () => new Database(path).exec("pragma user_version = 7").close(),
    // Without `head`, a log cannot be told from another's.
    async () => {
      vi.stubEnv("PATH", "/nowhere");
      await (await openStorage({ filename: path })).close();
      vi.unstubAllEnvs();
    },
    async () => (await openStorage({ filename: path })).close(),
    () => new Database(path).exec("pragma wal_checkpoint(truncate)").close(),
    () => backUp(),
  ];
  for (const disturb of disturbances) {
    await disturb();
    expect(await failLater(1_000, create, list, charge)).toEqual([false, false, false]);
  }
  expect(warnings).toEqual([]);
  await reopen();
  await create();
  expect(new Database(path).pragma("user_version", { simple: true })).toBe(7);
});

it("a log of more than 64 MiB is reported once, and truncated when it is written back", async () => {
  const [log, limit] = [`${path}-wal`, 64 * 1_048_576];
  const codes = () => warnings.map(({ code }) => code);
  for (const episode of [["large_log"], ["large_log", "large_log"]]) {
    // SQLite's frames are at the front; the rest of the file is as a long reader leaves it.
    fs.truncateSync(log, limit + 1);
    for (const call of [create, list]) {
      expect([await failLater(1_000, call), codes()]).toEqual([[false], episode]);
      expect(warnings[0]?.message).toContain("grown to 64 MiB");
    }
    new Database(path).exec("pragma wal_checkpoint").close();
    for (const call of [create, create]) expect(await failLater(1_000, call)).toEqual([false]);
    expect(fs.statSync(log).size).toBe(limit);
  }
});

it("a newer schema that arrives under a storage ends it, but not if it only adds to the tables", async () => {
  new Database(path)
    .exec("alter table pets add column colour text; alter table api_keys add column tag text")
    .exec("insert into petstore_migrations values (999, 'more columns', 0)")
    .close();
  expect(new Set(await failLater(100, ...calls))).toEqual(new Set([false]));
  for (const readOnly of [false, true]) await openStorage({ filename: path, readOnly });
  new Database(path).exec("insert into petstore_migrations values (1000, 'later', 1)").close();
  time += 100;
  expect((await list())._unsafeUnwrapErr().message).toMatch(
    "All calls fail until the server is restarted: the database has schema 1000; this version",
  );
  expect(new Set(await failLater(0, ...calls))).toEqual(new Set([true]));
  expect(warnings.map(({ code }) => code)).toEqual(["schema_too_new"]);
});
