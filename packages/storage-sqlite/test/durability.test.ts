import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import type { NewPet } from "@petstore/core/storage";
import Database from "better-sqlite3";
import { build } from "esbuild";
import { expect, it, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { loadDriver } from "../src/database/driver.js";
import { aKey, chargeOnce, openStorage, rex, times, useFolder } from "./support/storage.js";
import { inCi, sized } from "../../../scripts/test-size.js";

const FULL = 2;

/** Fills 25 pages of the log. */
const large = { ...rex, name: "x".repeat(100_000) };

/** strace may be missing, or not be allowed to trace. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

const WRITING = "packages/storage-sqlite/test/writing-process.ts";
const ADDING = "packages/storage-sqlite/test/adding-process.ts";
const program = useBundled("durability", [WRITING, ADDING]);
const folder = useFolder();

/** The steps of a process in order: writes to the log (consecutive ones as one), syncs, and finished calls. */
function stepsOf(trace: string): readonly string[] {
  const steps = trace.split("\n").flatMap((line) => {
    if (/ pwrite64\(\d+<.*-wal>/.test(line)) return ["write"];
    if (/ f(data)?sync\(\d+<.*-wal>/.test(line)) return ["sync"];
    return /done: (\w+)/.exec(line)?.slice(1) ?? [];
  });
  return steps.filter((step, index) => step !== "write" || steps[index - 1] !== "write");
}

it.skipIf(!canTrace)("syncs the log before it acknowledges a pet or a key; for no charge", () => {
  const trace = folder.path("trace");
  const calls = ["-f", "--seccomp-bpf", "-y", "-e", "trace=pwrite64,fsync,fdatasync,write"];
  const node = [process.execPath, program(WRITING), folder.path("pets.db")];
  expect(spawnSync("strace", [...calls, "-o", trace, ...node]).status).toBe(0);

  const steps = stepsOf(readFileSync(trace, "utf8"));
  const round = "write charge write sync create write sync update".split(" ");
  // Closing writes the log back.
  const expected = [...times(5, () => round).flat(), "sync"];
  expect(steps.slice(steps.indexOf("open") + 1)).toEqual(expected);
});

it("switches to the log at synchronous=FULL, because that changes the file, and keeps a host's database there", async () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- It is called on its database.
  const { pragma } = Database.prototype;
  const levels: unknown[] = [];
  vi.spyOn(Database.prototype, "pragma").mockImplementation(function (
    this: Database.Database,
    ...args
  ) {
    if (args[0].includes("journal_mode = "))
      levels.push(pragma.call(this, "synchronous", { simple: true }));
    return pragma.apply(this, args);
  });
  const database = new Database(folder.path("host.db"));
  database.pragma("synchronous = OFF");
  const storage = await openStorage({ database });
  await openStorage({ filename: folder.path("pets.db") });
  expect(levels).toEqual([FULL, FULL]);
  await storage.keys.insert(aKey("a"));
  await chargeOnce(storage, "a");
  expect(pragma.call(database, "synchronous", { simple: true })).toBe(FULL);
  expect(pragma.call(database, "journal_mode", { simple: true })).toBe("wal");
});

it.runIf(inCi)("writes the log back in a thread of low priority, not in a commit", async () => {
  const own = getPriority();
  const filename = folder.path("pets.db");
  const storage = await openStorage({ filename });
  const pagesOfLog = () => statSync(`${filename}-wal`).size / 4_120;
  const create = async (pet: NewPet, pets: number) => {
    for (let count = 0; count < pets; count += 1) await storage.pets.create(pet);
  };
  // Until the thread runs, SQLite writes it back at 1,000 pages.
  await create(rex, 200);
  await expect.poll(() => create(large, 10).then(pagesOfLog)).toBeGreaterThan(2_000);
  while (pagesOfLog() < 4_000) await create(large, 10);
  const salt = saltOf(filename);
  const growsMeanwhile = async () => {
    await create(rex, 1);
    const { size } = statSync(filename);
    // Blocks this thread, so that what happens meanwhile is done by another one.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    return statSync(filename).size > size;
  };
  await expect.poll(growsMeanwhile, { interval: 0 }).toBe(true);
  // The log is looked at in the midst of these commits, so that the thread cannot write back all of it.
  const saltAfterMore = () => create(rex, 200).then(() => saltOf(filename));
  await expect.poll(saltAfterMore, { interval: 250, timeout: 20_000 }).not.toBe(salt);
  expect(pagesOfLog()).toBeLessThan(16_000);
  if (process.platform === "linux") {
    expect(getPriority()).toBe(own);
    expect(prioritiesOfThreads().filter((priority) => priority !== own)).toEqual([19]);
  }
  await storage.close();
  expect(existsSync(`${filename}-wal`)).toBe(false);
});

it("writes the log back in a thread, also when a bundler renames what it uses and keeps names", async () => {
  const filename = folder.path("pets.db");
  await openStorage({ filename });
  const source = fileURLToPath(new URL("../src/commit/checkpoint-thread.ts", import.meta.url));
  const { outputFiles } = await build({
    ...{ entryPoints: [source], write: false, format: "iife", globalName: "bundle" },
    ...{ minify: true, keepNames: true },
  });
  const thread = String(runInNewContext(`${outputFiles[0]?.text ?? ""} bundle.THREAD`));
  const { url: driver } = await loadDriver();
  const hasEnded = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { driver, filename, longLog: 0, niceness: 0, hasEnded };
  const worker = new Worker(thread, { eval: true, workerData });
  expect(await once(worker, "message")).toEqual(["ready"]);
  for (const [message, reply] of Object.entries({ "write back": "written", end: "ended" })) {
    worker.postMessage(message);
    expect(await once(worker, "message")).toEqual([reply]);
  }
});

it("shares one listener for the end of the process with other storages: Node warns of more than ten", async () => {
  const before = process.listenerCount("exit");
  for (let count = 0; count < 12; count += 1)
    await openStorage({ filename: folder.path(`${count}.db`) });
  expect(process.listenerCount("exit")).toBeLessThanOrEqual(before + 1);
});

it("lets its process end, also while the thread that writes the log back is starting", () => {
  // It starts when the log is first looked at, after 200 commits.
  for (let pets = 200; pets <= 400; pets += sized(200, 5, 1)) {
    const args = [program(ADDING), folder.path(`${pets}.db`), `${pets}`];
    const { status, signal } = spawnSync(process.execPath, args, { timeout: 60_000 });
    expect([pets, status, signal]).toEqual([pets, 0, null]);
  }
});

/** The nice value of each thread of this process (proc(5), stat). */
function prioritiesOfThreads(): readonly number[] {
  return readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

/** What SQLite changes in the log when it begins it anew. */
const saltOf = (filename: string): string =>
  readFileSync(`${filename}-wal`).toString("hex", 16, 24);
