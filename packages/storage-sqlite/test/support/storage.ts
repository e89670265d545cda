import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "@petstore/core/storage";
import { openSqliteStorage, type SqliteStorageOptions } from "@petstore/storage-sqlite";
import Database from "better-sqlite3";
import type { ResultAsync } from "neverthrow";
import { beforeEach, expect, onTestFinished, vi } from "vitest";
import { meanwhile, rex } from "../../../storage-sql/test/support/samples.js";

export * from "../../../storage-sql/test/support/samples.js";

export async function openStorage(options: SqliteStorageOptions): Promise<Storage> {
  const storage = (await openSqliteStorage(options))._unsafeUnwrap();
  onTestFinished(() => storage.close().then(() => undefined));
  return storage;
}

export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function useFolder() {
  let folder = "";
  beforeEach(() => void (folder = createFolder()));
  const path = (name: string): string => join(folder, name);
  const pipe = (name: string): string => {
    execFileSync("mkfifo", [path(name)]);
    return path(name);
  };
  return { path, pipe };
}

/** Lets modules use what is mocked of Node's own ones, until the test ends. */
export function applyMocks(): void {
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

/** Calls this function instead of each sync of an open file, until the test ends. Resolves to what counts them. */
export async function watchSyncs(onSync = (): unknown => undefined) {
  const handle = await open(devNull);
  await handle.close();
  applyMocks();
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  return vi.spyOn(prototype, "sync").mockImplementation(() => Promise.resolve(void onSync()));
}

/** The files with this text in their path that this process has open: none where the system does not tell. */
export function openFiles(text: string): readonly string[] {
  const folder = "/proc/self/fd";
  const links = existsSync(folder) ? readdirSync(folder).map((name) => `${folder}/${name}`) : [];
  const files = links.filter((link) => existsSync(link)).map((link) => readlinkSync(link));
  return files.filter((file) => file.includes(text));
}

export function petsIn(file: string): number {
  const database = new Database(file, { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  const count = Number(database.prepare("select count(*) from pets").pluck().get());
  database.close();
  return count;
}

/** Adds a pet, and leaves it in the log of the database as a killed process does. Returns the log. */
export async function leaveLog(filename: string): Promise<Uint8Array> {
  const storage = await openStorage({ filename });
  (await storage.pets.create(rex))._unsafeUnwrap();
  const files = [filename, `${filename}-wal`].map((file) => [file, readFileSync(file)] as const);
  await storage.close();
  for (const [file, bytes] of files) writeFileSync(file, bytes);
  return readFileSync(`${filename}-wal`);
}

/** The modes that files have, from the first byte, until a call that makes them has succeeded. */
export async function modesDuring(
  call: ResultAsync<unknown, unknown>,
  files: () => readonly string[],
): Promise<ReadonlySet<number>> {
  const modes = new Set<number>();
  const ended = await meanwhile(call, () => {
    for (const file of files()) {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found) modes.add(found.mode & 0o777);
    }
  });
  expect(ended.isOk()).toBe(true);
  return modes;
}
