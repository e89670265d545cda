import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { getPriority } from "node:os";
import threads from "node:worker_threads";
import Database from "better-sqlite3";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createCheckpoints } from "../src/commit/checkpoints.js";
import { loadDriver } from "../src/database/driver.js";
import { applyMocks, openStorage, rex, useFolder } from "./support/storage.js";

const folder = useFolder();
let filename: string;
let database: Database.Database;
beforeEach(() => {
  filename = folder.path("log.db");
  database = new Database(filename, { timeout: 0 });
  database.exec("pragma journal_mode = wal; pragma synchronous = off; create table pages (page)");
});

const pagesInLog = () =>
  (database.pragma("wal_checkpoint(noop)") as { readonly log: number }[])[0]?.log ?? 0;

const limit = () => Number(database.pragma("wal_autocheckpoint", { simple: true }));

function fillLog(pages: number): void {
  const insert = database.prepare("insert into pages values (zeroblob(4000))");
  const missing = pages - 50 - pagesInLog();
  database.transaction(() => Array.from({ length: missing }, () => insert.run()))();
  for (let page = pagesInLog(); page < pages; page += 1)
    database.exec(`pragma user_version = ${page}`);
  expect(pagesInLog()).toBe(pages);
}

async function start(driver?: string) {
  const areOurs = vi.fn(() => true);
  const { url } = await loadDriver();
  const checkpoints = createCheckpoints(database, filename, driver ?? url, areOurs);
  onTestFinished(() => checkpoints.stop());
  const commit = (commits = 200) => {
    for (let count = 0; count < commits; count += 1) checkpoints.afterCommit();
  };
  commit();
  return { checkpoints, commit, areOurs };
}

it.each<[what: string, ours: boolean[], looks: number, isNew: boolean, use: string]>([
  ["written back by a thread, and begun anew", [true, true], 2, true, ""],
  ["not written back into a file that was exchanged", [false], 1, false, ""],
  ["not begun anew when the file was exchanged meanwhile", [true, false], 2, false, ""],
  ["not begun anew while another connection reads", [true], 1, false, "begin; select * from pages"],
  ["not begun anew while another connection writes", [true, true], 2, false, "begin immediate"],
])("a long log is %s", async (_, ours, looks, isNew, use) => {
  const { checkpoints, areOurs, commit } = await start();
  expect(limit()).toBe(1_000);
  await expect.poll(limit).toBe(16_000);
  fillLog(3_999);
  commit();
  expect(areOurs).not.toHaveBeenCalled();
  const other = new Database(filename);
  if (use.includes("select")) other.exec(use);
  fillLog(4_000);
  if (use === "begin immediate") other.exec(use);
  for (const are of ours) areOurs.mockReturnValueOnce(are);
  const { size } = statSync(filename);
  commit(199);
  expect(areOurs).not.toHaveBeenCalled();
  commit(1);
  for (let turn = 0; ours[0] && turn < 100_000 && statSync(filename).size === size; turn += 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  expect(statSync(filename).size > size).toBe(ours[0]);
  await checkpoints.stop();
  other.close();
  expect([areOurs.mock.calls.length, pagesInLog() < 10, limit()]).toEqual([looks, isNew, 16_000]);
});

it.each([
  ["whose thread cannot load the driver", "file:///nowhere.js"],
  ["where no thread can be started", undefined],
])("a log %s is written back by SQLite", async (_, driver) => {
  database.pragma("wal_autocheckpoint = 0");
  if (driver === undefined)
    vi.spyOn(threads, "Worker").mockImplementation(function () {
      throw new Error("no thread");
    });
  applyMocks();
  const { checkpoints, areOurs, commit } = await start(driver);
  await expect.poll(limit).toBe(1_000);
  database.pragma("wal_autocheckpoint = 0");
  fillLog(4_000);
  commit();
  const wait = vi.spyOn(Atomics, "wait");
  checkpoints.stopNow();
  expect(wait.mock.results.filter(({ value }) => value !== "not-equal")).toEqual([]);
  expect([areOurs.mock.calls.length, limit()]).toEqual([0, 0]);
});

it("a log is written back by the thread after an error, such as of a full disk", async () => {
  const { url } = await loadDriver();
  const failingOnce = `import Database from "${url}"; let isFull = true;
    export default class extends Database {
      prepare(text) {
        if (!isFull || !text.includes("passive")) return super.prepare(text);
        throw new Error((isFull = false));
      }
    }`;
  const { commit } = await start(`data:text/javascript,${encodeURIComponent(failingOnce)}`);
  await expect.poll(limit).toBe(16_000);
  fillLog(4_000);
  await expect.poll(() => (commit(), pagesInLog())).toBeLessThan(10);
});

it.each(["stop", "stopNow"] as const)("the thread has closed the file after %s", async (end) => {
  const { checkpoints } = await start();
  await expect.poll(limit).toBe(16_000);
  fillLog(4_000);
  await checkpoints[end]();
  database.close();
  expect(existsSync(`${filename}-wal`)).toBe(false);
});

it("a storage starts the thread, of low priority, after 200 commits", async () => {
  const own = getPriority();
  const storage = await openStorage({ filename: folder.path("pets.db") });
  for (let pet = 0; pet < 200; pet += 1) await storage.pets.create(rex);
  if (process.platform !== "linux" || own === 19) return;
  // The nice value of each thread (proc(5), stat); 19 is the highest.
  const others = () =>
    readdirSync("/proc/self/task")
      .map((thread) => readFileSync(`/proc/self/task/${thread}/stat`, "utf8"))
      .map((stat) => Number(stat.replace(/^.*\) /s, "").split(" ")[16]))
      .filter((priority) => priority !== own);
  await expect.poll(others).toEqual([19]);
  expect(getPriority()).toBe(own);
});
