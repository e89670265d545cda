// Mutation testing. `npm run mutate` measures all parts, `npm run mutate -- core/limits client` those whose names begin
// like this. The results of each part are kept in .stryker/, with a report to read: what has not changed is not
// measured again. `--force` measures it again; it is needed after a change of a helper of the tests.
// Each part's score goes to mutation-scores.json, which `--scores` prints. Its `survivors` are written by hand.
// `--all-killers` runs every test of a mutant, not only until one fails, so that the report shows all that do.
import { readFileSync, writeFileSync } from "node:fs";
import { Stryker } from "@stryker-mutator/core";

const core = ["packages/core/test/*.test.ts", "packages/storage-contract/test/*.test.ts"];
/** @param {readonly string[]} names */
const sqlite = (...names) => names.map((name) => `packages/storage-sqlite/test/${name}.test.ts`);
/** @param {readonly string[]} names */
const cli = (...names) => names.map((name) => `packages/cli/test/${name}.test.ts`);
const commits = ["group-commit", "locked", "host-database"];
const tables = ["storage-contract", "remembered"];
/** Without the tests of slow and lost connections, each of which takes seconds. */
const http = "packages/http-adapter/test/!(connection|drain|slow-*|openapi-document).test.ts";

/**
 * What is mutated, and the tests that have to notice it. What runs `elsewhere`, in a process or a thread that tests
 * start, is tested by all of them.
 * @type {Readonly<Record<string, { mutate: readonly string[], tests: readonly string[], elsewhere?: readonly string[] }>>}
 */
const parts = {
  "core/limits": { mutate: ["packages/core/src/limits/*.ts"], tests: core },
  "core/keys": { mutate: ["packages/core/src/keys/*.ts"], tests: core },
  "core/operations": { mutate: ["packages/core/src/operations/*.ts"], tests: core },
  "core/pets": { mutate: ["packages/core/src/pets/*.ts"], tests: core },
  "core/storage": { mutate: ["packages/core/src/storage/*.ts"], tests: core },
  "core/store": { mutate: ["packages/core/src/*.ts"], tests: core },
  "storage-sql/commit": {
    mutate: ["packages/storage-sql/src/commit/*.ts"],
    tests: ["packages/storage-sql/test/*.test.ts"],
  },
  "storage-sql/tables": {
    mutate: ["packages/storage-sql/src/*.ts"],
    tests: [
      "packages/storage-sql/test/*.test.ts",
      ...sqlite(...commits, ...tables, "replaced-file"),
      "packages/storage-postgres/test/storage-contract.test.ts",
    ],
  },
  "storage-sqlite/commit": {
    mutate: ["packages/storage-sqlite/src/commit/transactions.ts"],
    tests: sqlite(...commits, ...tables, "replaced-file"),
  },
  "storage-sqlite/backup": {
    mutate: ["packages/storage-sqlite/src/backup/*.ts"],
    tests: sqlite("backup", "restore"),
  },
  "storage-sqlite/files": {
    mutate: ["packages/storage-sqlite/src/database/database-*.ts"],
    tests: sqlite("replaced-file", "restore", "backup", "second-copy", "open-errors"),
  },
  "storage-sqlite/checkpoints": {
    mutate: ["packages/storage-sqlite/src/commit/checkpoint*.ts"],
    tests: sqlite("checkpoints", "durability"),
    elsewhere: ["packages/storage-sqlite/src/commit/checkpoint-thread.ts"],
  },
  "storage-postgres/commit": {
    mutate: ["packages/storage-postgres/src/commit/*.ts"],
    tests: ["packages/storage-postgres/test/*.test.ts"],
  },
  client: {
    mutate: ["gate", "queue", "attempt"].map((name) => `packages/client/src/${name}.ts`),
    // Mutated code is larger than the client may be.
    tests: ["packages/client/test/!(size).test.ts"],
  },
  "http-adapter/request": {
    mutate: ["packages/http-adapter/src/{,request/,response/}*.ts"],
    tests: [http],
  },
  "http-adapter/node": {
    mutate: ["packages/http-adapter/src/node/*.ts"],
    tests: [
      "packages/http-adapter/test/!(openapi-*).test.ts",
      "packages/http-adapter/test/hosts/*.test.ts",
    ],
  },
  console: {
    mutate: ["packages/console/src/*.ts"],
    tests: ["packages/console/test/*.test.ts"],
  },
  "cli/keys": {
    mutate: ["packages/cli/src/keys/*.ts"],
    tests: cli("keys", "list", "command-line", "lost-output"),
  },
  "cli/serve": {
    mutate: ["health", "serve-command", "server"].map(
      (name) => `packages/cli/src/serve/${name}.ts`,
    ),
    tests: cli("serve", "operating", "command-line"),
    elsewhere: ["packages/cli/src/serve/serve-command.ts"],
  },
  "cli/serve-options": {
    mutate: ["packages/cli/src/serve/serve-options.ts"],
    tests: cli("command-line", "serve"),
  },
  "cli/serve-docs": {
    mutate: ["packages/cli/src/serve/docs/*.ts"],
    tests: cli("docs"),
  },
  "cli/serve-log": {
    mutate: ["packages/cli/src/serve/log.ts"],
    tests: cli("operating", "lost-output"),
    elsewhere: ["packages/cli/src/serve/log.ts"],
  },
  "cli/metrics": {
    mutate: ["packages/cli/src/serve/metrics.ts"],
    tests: cli("operating"),
    elsewhere: ["packages/cli/src/serve/metrics.ts"],
  },
  "cli/workers": {
    mutate: ["packages/cli/src/serve/workers.ts"],
    tests: cli("workers"),
    elsewhere: ["packages/cli/src/serve/workers.ts"],
  },
};

const args = process.argv.slice(2);
const prefixes = args.filter((arg) => !arg.startsWith("--"));
const chosen = Object.entries(parts).filter(
  ([name]) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)),
);
if (chosen.length === 0) {
  console.error(`There is no such part. The parts are: ${Object.keys(parts).join(", ")}.`);
  process.exitCode = 1;
}

const scoresFile = new URL("mutation-scores.json", import.meta.url);
/** `killed` in percent. @type {{ part: string, mutants: number, killed: number, survivors: string }[]} */
const scores = JSON.parse(readFileSync(scoresFile, "utf8"));
for (const [name, { mutate, tests, elsewhere = [] }] of args.includes("--scores") ? [] : chosen) {
  console.log(`\n${name}`);
  const file = `.stryker/${name.replaceAll("/", "-")}`;
  // Read by mutate.vitest.config.ts, in the processes that Stryker starts.
  process.env["PETSTORE_MUTATE_TESTS"] = tests.join(" ");
  process.env["PETSTORE_MUTATE_ELSEWHERE"] = elsewhere.join(" ");
  const mutants = await new Stryker({
    mutate: [...mutate],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "scripts/mutate.vitest.config.ts", related: false },
    incremental: true,
    incrementalFile: `${file}.json`,
    force: args.includes("--force"),
    disableBail: args.includes("--all-killers"),
    reporters: ["clear-text", "progress-append-only", "html"],
    htmlReporter: { fileName: `${file}.html` },
    clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: false },
    tempDirName: ".stryker/tmp",
    ignorePatterns: ["/benchmarks", "/deploy", "/runtimes"],
    concurrency: 2,
    // A busy machine is slow: what ends later than this hangs.
    timeoutMS: 10_000,
    allowConsoleColors: false,
  }).runMutationTest();
  // Without the few that crash the process of the tests.
  const measured = mutants.filter(({ status }) => !["Ignored", "RuntimeError"].includes(status));
  const killed = measured.filter(({ status }) => status === "Killed" || status === "Timeout");
  const score = {
    mutants: measured.length,
    killed: Number(((100 * killed.length) / measured.length).toFixed(1)),
  };
  const known = scores.find(({ part }) => part === name);
  if (known === undefined) scores.push({ part: name, ...score, survivors: "" });
  else Object.assign(known, score);
  writeFileSync(scoresFile, `${JSON.stringify(scores, undefined, 2)}\n`);
}
for (const { part, mutants, killed, survivors } of scores) {
  if (chosen.some(([name]) => name === part)) {
    console.log(`${part}: ${killed} % of ${mutants} are killed. Others: ${survivors}`);
  }
}
