import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import Database from "better-sqlite3";
import { beforeEach, expect, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { openStorage } from "./support/open-storage.js";
import { aKey, chargeOnce } from "../../storage-sql/test/support/samples.js";
import { useFolder } from "./support/temporary-folder.js";

const ROUNDS = 40;
const CALLERS = 16;

const PROGRAM = "packages/storage-sqlite/test/charging-process.ts";
const program = useBundled("charging-process", [PROGRAM]);
const folder = useFolder();
let filename: string;
beforeEach(() => {
  filename = folder.path("pets.db");
});

function start(): ChildProcess {
  const args = [filename, "a", String(ROUNDS), String(CALLERS)];
  return fork(program(PROGRAM), args, { execArgv: [] });
}

/** The next message from a process: for these, always one array or word. */
async function messageFrom(child: ChildProcess): Promise<unknown> {
  const messages: unknown[] = await once(child, "message");
  return messages[0];
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

it("two processes on one file count every charge, and a killed one loses none", async () => {
  const storage = await openStorage({ filename });
  await storage.keys.insert(aKey("a"));
  const children = [start(), start()];
  await Promise.all(children.map(messageFrom));

  const counting = children.map(messageFrom);
  for (const child of children) child.send("go");
  const own = await Promise.all(Array.from({ length: CALLERS }, () => chargeOnce(storage, "a")));
  const seen = [own, ...(await Promise.all(counting))].flat();

  const total = CALLERS + 2 * ROUNDS * CALLERS;
  expect(seen).toHaveLength(total);
  expect(new Set(seen).size).toBe(total);
  await storage.close();
  for (const child of children) await kill(child);

  const again = await openStorage({ filename });
  expect((await again.keys.find("a"))._unsafeUnwrap()?.usage.dayUsed).toBe(total);
  await again.close();
});

it("two processes may open a new file at the same time", async () => {
  const children = [start(), start()];
  expect(await Promise.all(children.map(messageFrom))).toEqual(["ready", "ready"]);
  for (const child of children) await kill(child);

  const database = new Database(filename);
  const migrated = database.prepare("select number from petstore_migrations").pluck().all();
  expect(migrated).toEqual([1, 2]);
  database.close();
});
