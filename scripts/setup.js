// Installs the dependencies, unless node_modules is already what the lockfile and manifests say.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run } from "./run.js";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const stampFile = "node_modules/.stamp";
// Which packages are installed depends on the platform and on Node's version.
const runtime = [process.platform, process.arch, process.versions.modules].join(" ");
const wanted = `${runtime}\n${hashOfManifests()}\n`;
const installed = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : undefined;

if (installed !== wanted) {
  rmSync(stampFile, { force: true });
  console.log("Installing dependencies. The first time, on Node 20 only, SQLite may be compiled.");
  const pnpm = ["scripts/pnpm.js", "install", "--frozen-lockfile", "--prod=false"];
  process.exitCode = await run(process.execPath, pnpm);
  if (process.exitCode === 0 && hasDriver()) writeFileSync(stampFile, wanted);
}

/** Whether the driver of SQLite works. On Node 20, an install whose compiler fails succeeds without it. */
function hasDriver() {
  const load = "new (require('better-sqlite3'))(':memory:')";
  const isMissing =
    process.versions.node.startsWith("20.") &&
    spawnSync(process.execPath, ["-e", load]).status !== 0;
  if (isMissing) {
    console.error(
      "SQLite's driver could not be compiled: install a C++ compiler and Python, or use Node 22 or newer.",
    );
  }
  return !isMissing;
}

function hashOfManifests() {
  const hash = createHash("sha256");
  for (const file of [
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "package.json",
    ...readdirSync("packages").map((name) => `packages/${name}/package.json`),
  ]) {
    hash.update(file).update(readFileSync(file));
  }
  return hash.digest("hex");
}
