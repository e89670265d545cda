// pnpm for people who only have npm: `node scripts/pnpm.js <arguments>` runs, through npx, the
// version that package.json names in "config": in "packageManager", yarn would refuse it before it says what to type.
import { readFileSync } from "node:fs";
import { run } from "./run.js";

/** @type {{ config: { pnpm: string } }} */
const { config } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

process.exitCode = await run("npx", ["--yes", `pnpm@${config.pnpm}`, ...process.argv.slice(2)]);
