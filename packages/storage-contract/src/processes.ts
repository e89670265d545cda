import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A module through which another process opens the storage. */
export interface StorageModule {
  /**
   * The URL of the module. It exports `openStorage(options)`, which resolves to a storage on the data of the fixture
   * that has these options.
   */
  readonly url: string;
  /** How many rounds of calls each process makes. Default: 50. */
  readonly rounds?: number;
}

/** What a process does on its storage, in every round. `process.js` has these tasks. */
export type Task = "charge" | "update" | "create" | "move" | "each" | "wait";

/** A process that has opened the storage. */
export interface StorageProcess {
  /** Lets the process go on, to its next line. It ends after the result of its task; `close` closes the storage. */
  readonly say: (word: "go" | "close") => void;
  /** Resolves to the next line that the process writes: `deciding`, or the results of all rounds as JSON. */
  readonly line: () => Promise<string>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>;
}

/** Starts a process. Resolves when it has opened the storage. */
export type StartProcess = (task: Task, rounds?: number) => Promise<StorageProcess>;

/** Creates the processes of one fixture. */
export function createProcesses(module: StorageModule | undefined, options: unknown): Processes {
  const started: { readonly kill: () => boolean; readonly ended: Promise<unknown> }[] = [];
  const start: StartProcess = async (task, rounds = module?.rounds ?? 50) => {
    assert.ok(module, "No module is named for other processes to import.");
    const args = [module.url, JSON.stringify(options ?? null), task, `${rounds}`];
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    // A process that has ended reads no more.
    child.stdin.on("error", () => undefined);
    let errors = "";
    child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
    const ended = once(child, "close");
    started.push({ kill: () => child.kill("SIGKILL"), ended });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const line = async () => {
      const next = await lines.next();
      if (next.done !== true) return next.value;
      await ended;
      assert.fail(`A process that shares the storage failed:\n${errors}`);
    };
    assert.equal(await line(), "ready");
    return { say: (word) => void child.stdin.write(`${word}\n`), line, ended };
  };
  return {
    start,
    end: async () => {
      started.forEach(({ kill }) => kill());
      await Promise.all(started.map(({ ended }) => ended));
    },
  };
}

interface Processes {
  readonly start: StartProcess;
  /** Ends those that still run. */
  readonly end: () => Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("process.js", import.meta.url));
