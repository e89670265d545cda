// Makes the mutants of mutate.js active in the processes and threads that tests start, too. Those of the files in
// PETSTORE_MUTATE_ELSEWHERE that no test runs in its own thread are tested by all tests.
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import { afterAll, beforeAll } from "vitest";

interface Coverage {
  readonly static: Record<string, number>;
  readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

declare global {
  /** Stryker's own. Its code in other processes reads the variable of the environment. */
  var __stryker__: { readonly activeMutant?: string; mutantCoverage?: Coverage } | undefined;
}

/** The text of a function that a thread gets has calls of these. */
const PRELUDE = `
  function stryNS_9fa48() {}
  function stryCov_9fa48() {}
  function stryMutAct_9fa48(id) { return process.env.__STRYKER_ACTIVE_MUTANT__ === id; }`;

class MutatedWorker extends threads.Worker {
  constructor(source: string | URL, options: threads.WorkerOptions = {}) {
    super(options.eval === true ? `${PRELUDE}${String(source)}` : source, options);
  }
}

const activate = (): void => {
  const active = globalThis.__stryker__?.activeMutant;
  if (active === undefined) delete process.env["__STRYKER_ACTIVE_MUTANT__"];
  else process.env["__STRYKER_ACTIVE_MUTANT__"] = active;
};

activate();
beforeAll(activate);
threads.Worker = MutatedWorker;
syncBuiltinESMExports();

afterAll(() => {
  const stryker = globalThis.__stryker__;
  if (stryker === undefined || stryker.activeMutant !== undefined) return;
  const coverage = (stryker.mutantCoverage ??= { static: {}, perTest: {} });
  const covered = new Set(
    [coverage.static, ...Object.values(coverage.perTest)].flatMap((ids) => Object.keys(ids)),
  );
  const files = (process.env["PETSTORE_MUTATE_ELSEWHERE"] ?? "").split(" ").filter(Boolean);
  for (const file of files) {
    for (const [, id = ""] of readFileSync(file, "utf8").matchAll(/stryMutAct_9fa48\("(\d+)"\)/g))
      if (!covered.has(id)) coverage.static[id] = 1;
  }
});
