import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { sized } from "../../../scripts/test-size.js";
import { readBySecondCopy } from "./support/second-copy.js";
import { firstPage, openFiles, openStorage, rex, useFolder } from "./support/storage.js";

const program = useBundled("adding-process", ["packages/storage-sqlite/test/adding-process.ts"]);
const folder = useFolder();

const closings: [by: string, close: (path: string) => unknown][] = [
  ["fs.readFile", (path) => readFileSync(path)],
  ["a second copy of SQLite", (path) => readBySecondCopy(path, folder.path("copy.node"))],
];

// Only there, the system shows which locks a process has.
const onLinux = it.runIf(process.platform === "linux");

onLinux.each(closings)("a storage whose lock %s ended fails, until reopened", async (_, close) => {
  const filename = folder.path("pets.db");
  const before = openFiles("/fdinfo/");
  const storage = await openStorage({ filename });
  const codes: string[] = [];
  storage.onWarning?.(({ code }) => codes.push(code));
  (await storage.pets.create(rex))._unsafeUnwrap();
  close(filename);
  const later = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 100);
  const message = expect.stringMatching(/closed the database file.*node:sqlite/) as string;
  for (const call of [() => storage.pets.list(firstPage), () => storage.pets.create(rex)])
    expect(await call()).toMatchObject({ error: { message } });
  later.mockRestore();
  await storage.close();
  expect([codes, openFiles("/fdinfo/")]).toEqual([["lock_lost"], before]);
  expect((await (await openStorage({ filename })).pets.create(rex))._unsafeUnwrap().id).toBe(2n);
});

onLinux("a second SQLite loses and doubles no pet", async () => {
  const filename = folder.path("pets.db");
  let added = "";
  for (let round = 0; round < sized(1, 10, 400); round += 1) {
    const start = (...args: readonly string[]) =>
      spawn(process.execPath, [program(), filename, ...args]);
    const both = start("150", folder.path("copy.node"));
    both.stdout.on("data", (text: Buffer) => (added += text.toString()));
    const other = start("20", "reopen");
    // Without its lock, the shared memory may be truncated under the first (SIGBUS). What it has added is kept.
    await Promise.all([once(both, "close"), once(other, "close")]);
  }
  const database = new Database(filename);
  const stored = database.prepare("select id || ':' || name from pets").pluck().all();
  const lines = added.trim().split("\n");
  expect(lines.length).toBeGreaterThan(sized(20, 100, 4_000));
  expect(lines.filter((line) => !stored.includes(line))).toEqual([]);
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  database.close();
});
