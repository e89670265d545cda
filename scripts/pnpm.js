// pnpm for people who only have npm: `node scripts/pnpm.js <arguments>` runs, through npx, the version in "config" of
// package.json. It is not in "packageManager": there, yarn stops at it, and does not say what to type.
import { readFileSync } from "node:fs";
import { run } from "./run.js";

/** @type {{ config: { pnpm: string } }} */
const { config } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

process.exitCode = await run("npx", ["--yes", `pnpm@${config.pnpm}`, ...process.argv.slice(2)]);
