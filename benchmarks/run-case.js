// Run by run.js: measures one case, and writes its tables.
//   node --expose-gc benchmarks/run-case.js CASE FILE OPTIONS
import { cases } from "./cases.js";
import { writeSection } from "./instrument/results.js";

const [, , name = "", file = "", given = "{}"] = process.argv;
const chosen = cases.find((one) => one.name === name);
if (chosen === undefined) throw new Error(`There is no case ${name}.`);

/** @type {{ only?: string, operations?: string, profiles?: string }} */
const { only = "", operations, profiles, ...extent } = JSON.parse(given);
// What was started ends with this process.
process.on("SIGINT", () => process.exit(1));
process.on("SIGTERM", () => process.exit(1));
const sections = await chosen.run({
  ...{ ...chosen.defaults, ...extent, profiles },
  operations: (chosen.operations ?? []).filter(
    (each) => operations?.split(",").includes(each) ?? true,
  ),
  chosen: (all) => all.filter((one) => one.name === "floor" || one.name.includes(only)),
});
for (const section of sections) writeSection(file, name, section);
// Limiters leave timers behind, and servers in this process still listen.
process.exit();
