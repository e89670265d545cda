// What each optimisation that makes code longer or odder saves, against the plain way. An optimisation without a row has
// no place in the code.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeFolder } from "../instrument/servers.js";
import { compareWork, repeat, wallClock } from "../instrument/turns.js";
import { compareHttp } from "./optimisations/http.js";
import { compareStatements } from "./optimisations/statements.js";
import { compareStorages } from "./optimisations/storage.js";

/** @import { Case } from "../cases.js" */
/** @import { Work } from "../instrument/turns.js" */

/**
 * By name: the file, for what a row counts microseconds, how often that is done in a round, by which clock, and in how many
 * rounds at most; the work with the optimisation, and the same by the plain way.
 * @typedef {Readonly<Record<string, readonly [
 *   readonly [file: string, unit: string, times: number, now?: () => number, mostRounds?: number],
 *   optimised: Work,
 *   plain: Work,
 * ]>>} Optimisations
 */

/** @type {Case} */
export const optimisations = {
  name: "optimisations",
  measures: "what each optimisation saves, one row each; --only TEXT measures rows with this text",
  defaults: { rounds: 21, seconds: 0, pets: 20_000 },
  secondsOfRound: () => 3,
  run: async ({ rounds, chosen, pets }) => {
    const folder = makeFolder();
    const rows = [];
    // Requests come first, because what runs before them makes the engine's code slower for V8.
    for (const open of [compareHttp, compareStorages, compareStatements, compareStarts]) {
      const all = Object.entries(await open(folder, pets));
      for (const { name, row } of chosen(all.map(([name, row]) => ({ name, row })))) {
        const [[file, unit, times, now = wallClock, mostRounds = rounds], optimised, plain] = row;
        const shared = { times, clocks: { time: now } };
        const pair = [
          { ...shared, name: "with", work: optimised },
          { ...shared, name: "without", work: plain },
        ];
        console.error(name);
        const samples = await compareWork([pair], Math.min(rounds, mostRounds));
        rows.push([
          ...[name, `\`${file}\``, unit],
          ...["with", "without"].map((way) => micros(Number(samples.median(way, "time", 4)))),
          samples.ratio("without", "with", "time"),
        ]);
      }
    }
    return [
      {
        name: "optimisations",
        title: "What each optimisation saves",
        text: `Microseconds with an optimisation and without it, by the plain way that is named; medians of ${rounds} interleaved rounds. The ratio is that of a round: how many times as long the plain way takes. Requests come from another process over 32 connections; their time is the processor time of the server, unless the row says elapsed time.`,
        head: ["optimisation", "file", "for each", "with", "without", "ratio"],
        rows,
      },
    ];
  },
};

/** @param {number} time */
function micros(time) {
  return time.toLocaleString("en", { maximumFractionDigits: time < 10 ? 2 : time < 100 ? 1 : 0 });
}

/** The libraries that are bundled into the command, by the package that has them. */
const LIBRARIES = {
  cli: ["commander", "csv-parse", "neverthrow"],
  core: ["lru-cache", "valibot"],
  "storage-sqlite": ["kysely"],
  wire: ["lossless-json"],
};

/** @returns {Optimisations} */
function compareStarts() {
  const packages = new URL("../../packages/", import.meta.url);
  const files = Object.entries(LIBRARIES).flatMap(([name, libraries]) => {
    const { resolve } = createRequire(new URL(`${name}/package.json`, packages));
    return libraries.map((library) => pathToFileURL(resolve(library)).href);
  });
  const load = `await Promise.all(${JSON.stringify(files)}.map((file) => import(file)))`;
  const run = (/** @type {string[]} */ ...args) => execFileSync(process.execPath, args);
  const command = fileURLToPath(new URL("cli/dist/bin.js", packages));
  return {
    "the command is one file (plain: nothing but its libraries, each from its own files)": [
      ["packages/cli/tsup.config.ts, scripts/bundle-libraries.js", "start", 1, wallClock, 7],
      repeat(() => run(command, "--version")),
      repeat(() => run("--input-type=module", "--eval", load)),
    ],
  };
}
