// The command: npm run bench. Without a case, it says what there is.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printed, readResults } from "./instrument/results.js";

const HELP = `npm run bench                       what can be measured, and how long it takes
npm run bench -- CASE... [OPTIONS]  measures, and replaces the tables of these cases in benchmarks/results.json
npm run bench -- CASE... --show     prints these tables as they were last measured
npm run bench -- all                everything, also with --show

--rounds N, --seconds N, --pets N   how often, how long and on how many pets; each case has its own defaults
--operations list,get               only these operations
--only TEXT                         only the servers or rows whose name has this text, and the floor
--results FILE                      another file for the tables, beside which a chart is written (.json)
--profiles FOLDER                   of the case http: keeps profiles of the servers, which Chrome's developer
                                    tools and speedscope.app show as flame graphs
--no-build                          measures the packages as they were built
`;

const root = fileURLToPath(new URL("..", import.meta.url));
const text = /** @type {const} */ ({ type: "string" });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ rounds: text, seconds: text, pets: text, operations: text, only: text },
    ...{ results: text, profiles: text },
    ...{ show: { type: "boolean" }, "no-build": { type: "boolean" } },
  },
});
if (!existsSync(`${root}packages/cli/dist/bin.js`)) build();
const { cases, minutesOf } = await import("./cases.js");

const named = positionals
  .filter((name) => name !== "all")
  .map(
    (name) =>
      cases.find((one) => one.name === name) ??
      fail(`There is no case ${name}. The cases are ${cases.map((one) => one.name).join(", ")}`),
  );
const chosen = positionals.includes("all") ? cases : named;
const results = values.results ?? `${root}benchmarks/results.json`;
if (chosen.length === 0) list();
else if (values.show === true) showResults();
else measure();

function list() {
  console.log(HELP);
  for (const one of cases) {
    show(one.name, minutesOf(one, {}), one.measures);
  }
  show(
    "all",
    cases.map((one) => minutesOf(one, {})).reduce((sum, minutes) => sum + minutes, 0),
  );
}

/** @param {string} name @param {number} minutes */
function show(name, minutes, measures = "") {
  console.log(`${name.padEnd(19)} ${`${minutes} min`.padStart(7)}  ${measures}`);
}

function showResults() {
  const names = chosen.map(({ name }) => name);
  for (const result of Object.values(readResults(results))) {
    if (names.includes(result.case)) console.log(`${printed(result)}\n`);
  }
}

function measure() {
  if (spawnSync("wrk").error) {
    fail("Not found: wrk, which loads the servers. Install it, such as by apt-get install wrk.");
  }
  /** @type {Partial<import("./cases.js").Extent>} */
  const extent = {};
  for (const name of /** @type {const} */ (["rounds", "seconds", "pets"])) {
    if (values[name] !== undefined) extent[name] = Number(values[name]);
  }
  for (const one of chosen) show(one.name, minutesOf(one, extent), one.measures);
  const all = chosen.reduce((sum, one) => sum + minutesOf(one, extent), 0);
  const end = new Date(Date.now() + all * 60_000).toTimeString().slice(0, 5);
  console.log(`About ${all} min, until ${end}. Replaces their tables in ${results}`);
  if (!values["no-build"]) build();
  // Each case runs in a process of its own, because what ran before makes code slower for V8.
  const failed = chosen.filter(({ name }) => {
    const script = fileURLToPath(new URL("run-case.js", import.meta.url));
    const args = ["--expose-gc", script, name, results, JSON.stringify({ ...values, ...extent })];
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0;
  });
  if (failed.length > 0) fail(`Failed: ${failed.map(({ name }) => name).join(", ")}`);
}

function build() {
  const { status } = spawnSync("npm", ["run", "build"], { cwd: root, stdio: "inherit" });
  if (status !== 0) fail("The packages could not be built.");
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(1);
}
