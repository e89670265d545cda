// pnpm for people who only have npm: `node scripts/pnpm.js <arguments>` runs, through npx, the
// version that package.json names in "packageManager".
import { readFileSync } from "node:fs";
import { run } from "./run.js";

/** @type {{ packageManager: string }} */
const { packageManager } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);

process.exitCode = await run("npx", ["--yes", packageManager, ...process.argv.slice(2)]);
