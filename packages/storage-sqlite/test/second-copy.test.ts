import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type Database from "better-sqlite3";
import { expect, it } from "vitest";
import { firstPage, openStorage, rex, useFolder } from "./support/storage.js";

const folder = useFolder();
const require = createRequire(import.meta.url);

/** A copy of SQLite that shares nothing with that of the storage: Node's, or on Node 20 a copy of the driver's. */
function openBySecondCopy(path: string): Database.Database {
  if (!process.versions.node.startsWith("20.")) {
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: typeof Database };
    return new DatabaseSync(path);
  }
  const nativeBinding = folder.path("copy.node");
  copyFileSync(require.resolve("better-sqlite3/build/Release/better_sqlite3.node"), nativeBinding);
  return new (require("better-sqlite3") as typeof Database)(path, { nativeBinding });
}

const closings: [by: string, close: (path: string) => unknown][] = [
  ["fs.readFile", (path) => readFileSync(path)],
  ["a second copy of SQLite", (path) => openBySecondCopy(path).close()],
];

// Only there, the system shows which locks a process has.
const onLinux = it.runIf(process.platform === "linux");

onLinux.each(closings)("a storage whose lock %s ended fails, until reopened", async (_, close) => {
  const filename = folder.path("pets.db");
  const storage = await openStorage({ filename });
  const codes: string[] = [];
  storage.onWarning?.(({ code }) => codes.push(code));
  (await storage.pets.create(rex))._unsafeUnwrap();
  close(filename);
  const message = expect.stringMatching(/closed the database file.*node:sqlite/) as string;
  for (const call of [() => storage.pets.create(rex), () => storage.pets.list(firstPage)])
    expect(await call()).toMatchObject({ error: { message } });
  expect(codes).toEqual(["lock_lost"]);
  await storage.close();
  const { pets } = await openStorage({ filename });
  expect((await pets.create(rex))._unsafeUnwrap().id).toBe(2n);
});
