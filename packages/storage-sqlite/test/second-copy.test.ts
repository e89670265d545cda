import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Storage } from "@petstore/core";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { sized } from "../../../scripts/test-size.js";
import { openStorage, useFolder } from "./support/storage.js";
import { firstPage, rex } from "../../storage-sql/test/support/samples.js";

const ADDING = "packages/storage-sqlite/test/adding-process.ts";
const program = useBundled("second-copy", [ADDING]);
const folder = useFolder();

/** Reads a database by a copy of SQLite that shares nothing with that of the storage. */
function readBySecondCopy(path: string): void {
  const database = openBySecondCopy(path);
  database.prepare("select count(*) from pets").get();
  database.close();
}

function openBySecondCopy(path: string): Pick<Database.Database, "prepare" | "close"> {
  const require = createRequire(import.meta.url);
  if (!process.versions.node.startsWith("20.")) {
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: typeof Database };
    return new DatabaseSync(path);
  }
  const nativeBinding = folder.path("second-copy.node");
  const own = require.resolve("better-sqlite3/build/Release/better_sqlite3.node");
  if (!existsSync(nativeBinding)) copyFileSync(own, nativeBinding);
  return new Database(path, { nativeBinding });
}

const closings: [by: string, close: (path: string) => unknown][] = [
  ["fs.readFile", (path) => readFileSync(path)],
  ["a second copy of SQLite", readBySecondCopy],
];

// Only there, the system shows which locks a process has.
it.runIf(process.platform === "linux").each(closings)(
  "a storage whose lock was ended by %s adds nothing more, says why, and works when it is opened again",
  async (_, close) => {
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
  },
);

it.runIf(process.platform === "linux")(
  "no pet is lost or doubled while others use the database, of which one has a second copy of SQLite",
  async () => {
    const filename = folder.path("pets.db");
    const added = new Map<bigint, string>();
    let storage: Storage | undefined;
    for (let round = 0; round < sized(3, 10, 400); round += 1) {
      const other = spawn(process.execPath, [program(ADDING), filename, "40", "reopen"]);
      const ended = once(other, "exit");
      for (let count = 0; other.exitCode === null && other.signalCode === null; count += 1) {
        storage ??= await openStorage({ filename });
        const name = `${round} ${count}`;
        const created = await storage.pets.create({ ...rex, name });
        if (created.isOk()) added.set(created.value.id, name);
        else {
          await storage.close();
          storage = undefined;
        }
        if (count % 5 === 4) readBySecondCopy(filename);
      }
      expect(await ended).toEqual([0, null]);
    }
    await storage?.close();
    const database = new Database(filename);
    const stored = database.prepare<[], { id: number; name: string }>("select id, name from pets");
    const names = new Map(stored.all().map(({ id, name }) => [BigInt(id), name]));
    expect([...added].filter(([id, name]) => names.get(id) !== name)).toEqual([]);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    database.close();
  },
);
