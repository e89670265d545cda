// What each optimisation that makes code longer or odder saves, against the plain way: after a build
//   node benchmarks/optimisations/run.js [--rounds 21] [--only page]
// An optimisation without a row has no place in the code. Takes about a minute.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-results.js";
import { compareHttp } from "./http.js";
import { compare } from "./measure.js";
import { compareStarts } from "./start.js";
import { compareStatements } from "./statements.js";
import { compareStorages } from "./storage.js";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "21" }, only: { type: "string", default: "" } },
});

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const rows = [];
// Requests come first, because what runs before them makes the engine's code slower for V8.
for (const open of [compareHttp, compareStorages, compareStatements, compareStarts]) {
  const { optimisations, close } = await open(folder);
  for (const optimisation of optimisations) {
    const { name, file, unit } = optimisation;
    if (!name.includes(values.only)) continue;
    const { optimised, plain, ratio } = await compare(optimisation, Number(values.rounds));
    console.error(`${name}: ${optimised.toFixed(2)}, ${plain.toFixed(2)}`);
    rows.push([name, `\`${file}\``, unit, micros(optimised), micros(plain), ratio.toFixed(2)]);
  }
  await close();
}
rmSync(folder, { recursive: true });

writeResults(
  "optimisations",
  "What each optimisation saves",
  `Microseconds with an optimisation and without it, by the plain way that is named; medians of ${values.rounds} interleaved rounds. The ratio is that of a round: how many times as long the plain way takes. Requests come from another process over 32 connections; their time is the processor time of the server, unless the row says elapsed time.`,
  ["optimisation", "file", "for each", "with", "without", "ratio"],
  rows,
);

// The servers still listen.
process.exit();

/** @param {number} time */
function micros(time) {
  return time.toLocaleString("en", { maximumFractionDigits: time < 10 ? 2 : time < 100 ? 1 : 0 });
}
