import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { aKey, chargeOnce, openStorage, times, useFolder } from "./support/storage.js";
import { sized } from "../../../scripts/test-size.js";

const FULL = 2;

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
  // The second process cannot know whether the first one was killed before its sync.
  const runs = times(2, () => spawnSync("strace", [...calls, "-o", trace, ...node]).status);
  expect(runs).toEqual([0, 0]);

  const steps = stepsOf(readFileSync(trace, "utf8"));
  expect(steps.slice(0, steps.indexOf("once")).slice(-2)).toEqual(["write", "sync"]);
  const round = "write charge write sync create write sync update".split(" ");
  expect(steps.slice(steps.indexOf("open") + 1)).toEqual([...times(5, () => round).flat(), "sync"]);
});

it("switches to the log at synchronous=FULL, because that changes the file, and keeps a host's database there", async () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- It is called on its database.
  const { pragma } = Database.prototype;
  const levels: unknown[] = [];
  const spy = vi.spyOn(Database.prototype, "pragma");
  spy.mockImplementation(function (this: Database.Database, ...args) {
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
  // A charge between two full commits does not make the second one mark the log again.
  spy.mockClear();
  await storage.keys.insert(aKey("b"));
  expect(spy).not.toHaveBeenCalledWith("main.user_version", { simple: true });
});

it("shares one listener for the end of the process with other storages: Node warns of more than ten", async () => {
  const before = process.listenerCount("exit");
  for (let count = 0; count < 12; count += 1)
    await openStorage({ filename: folder.path(`${count}.db`) });
  expect(process.listenerCount("exit")).toBeLessThanOrEqual(before + 1);
});

it("lets its process end, also while the thread that writes the log back is starting", () => {
  for (let pets = 200; pets <= 400; pets += sized(200, 5, 1)) {
    const args = [program(ADDING), folder.path(`${pets}.db`), `${pets}`];
    const { status, signal } = spawnSync(process.execPath, args, { timeout: 60_000 });
    expect([pets, status, signal]).toEqual([pets, 0, null]);
  }
});
