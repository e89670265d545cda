import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { useBundled } from "../../../scripts/bundled-programs.js";
import { chargeOnce } from "./charge-once.js";
import { openStorage } from "./open-storage.js";
import { aKey, rex } from "./samples.js";
import { useFolder } from "./temporary-folder.js";

const FULL = 2;

/** strace may be missing, or not be allowed to trace. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

const PROGRAM = "packages/storage-sqlite/test/writing-process.ts";
const program = useBundled("writing-process", [PROGRAM]);
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

describe("durability", () => {
  it.skipIf(!canTrace)(
    "syncs the log before a pet or a key is acknowledged, and for no charge",
    () => {
      const trace = folder.path("trace");
      const strace = ["-f", "-y", "-e", "trace=pwrite64,fsync,fdatasync,write", "-o", trace];
      const node = [process.execPath, program(PROGRAM), folder.path("pets.db")];
      expect(spawnSync("strace", [...strace, ...node]).status).toBe(0);

      const steps = stepsOf(readFileSync(trace, "utf8"));
      const round = [
        ...["write", "charge"],
        ...["write", "sync", "create"],
        ...["write", "sync", "update"],
      ];
      expect(steps.slice(steps.indexOf("open") + 1)).toEqual([
        ...Array.from({ length: 5 }, () => round).flat(),
        // Closing writes the log back.
        "sync",
      ]);
    },
  );

  it("keeps a host's database at synchronous=FULL", async () => {
    const database = new Database(folder.path("host.db"));
    database.pragma("synchronous = OFF");
    const storage = await openStorage({ database });
    const level = () => database.pragma("synchronous", { simple: true });
    await storage.keys.insert(aKey("a"));
    (await storage.pets.create(rex))._unsafeUnwrap();
    expect(level()).toBe(FULL);
    await chargeOnce(storage, "digest of a");
    expect(level()).toBe(FULL);
    expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
    database.close();
  });

  it("checkpoints the log as it grows while pets are added one by one", async () => {
    const filename = folder.path("pets.db");
    const storage = await openStorage({ filename });
    for (let count = 0; count < 1_000; count += 1) await storage.pets.create(rex);
    // SQLite writes back after 1,000 pages of 4 KiB; without it, these would be some 12 MB.
    expect(statSync(`${filename}-wal`).size).toBeLessThan(6_000_000);
    await storage.close();
  });
});
