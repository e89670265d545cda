// What admitting a request costs, beside other limiters: `npm run bench:admit`, or after a build
//   node benchmarks/admit/run.js [--rounds 21]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-results.js";
import { KEYS, openContenders } from "./contenders.js";
import { CALLERS, measure } from "./measure.js";
import { nameAndVersion } from "./versions.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "21" } } });

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const costs = await measure(await openContenders(folder), Number(values.rounds));
rmSync(folder, { recursive: true });

const versions = ["rate-limiter-flexible", "express-rate-limit", "better-sqlite3"];
for (const storage of ["memory", "SQLite"]) {
  const rows = costs.filter(({ contender }) => contender.storage === storage);
  const [own] = rows;
  writeResults(
    `admit-${storage.toLowerCase()}`,
    `Admitting a request, in ${storage}`,
    `Microseconds a call, of ${KEYS} keys in turn; medians of ${values.rounds} interleaved rounds; × is the cost relative to petstore. ${versions.map(nameAndVersion).join(", ")}.`,
    ["limiter", "does", "alone", "×", `${CALLERS} callers`, "×"],
    rows.map(({ contender, alone, together }) => [
      contender.name,
      contender.does,
      ...cells(alone, own?.alone),
      ...cells(together, own?.together),
    ]),
  );
}
// Other limiters leave timers behind.
process.exit();

/**
 * @param {number} nanoseconds
 * @param {number | undefined} own
 */
function cells(nanoseconds, own = Number.NaN) {
  return [(nanoseconds / 1_000).toFixed(2), (nanoseconds / own).toFixed(2)];
}
