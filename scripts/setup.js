// Installs the dependencies, unless node_modules is already what the lockfile and manifests say.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exclusively } from "./exclusively.js";
import { packageNames } from "./packages.js";
import { run } from "./run.js";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const NO_DRIVER =
  "SQLite's driver could not be compiled: install a C++ compiler and Python, or use Node 22 or newer. The name of the folder must not have a quote.";
const stampFile = "node_modules/.stamp";
// Which packages are installed depends on the platform and on Node's version.
const runtime = [process.platform, process.arch, process.versions.modules].join(" ");
const wanted = `${runtime}\n${hashOfManifests()}\n`;

if (!isInstalled()) {
  // Another process may have installed meanwhile.
  const installUnlessInstalled = async () => (isInstalled() ? 0 : install());
  process.exitCode = await exclusively("node_modules/.installing", installUnlessInstalled);
}

async function install() {
  rmSync(stampFile, { force: true });
  console.log("Installing dependencies. The first time, on Node 20 only, SQLite may be compiled.");
  const code = await pnpm("install", "--frozen-lockfile", "--prod=false");
  if (code !== 0) return code;
  // An install that was killed may have left a driver that is not compiled.
  if (hasDriver() || ((await pnpm("rebuild", "better-sqlite3")) === 0 && hasDriver())) {
    writeFileSync(stampFile, wanted + stateOfModules());
  } else console.error(NO_DRIVER);
  return 0;
}

function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted + stateOfModules();
}

/** What pnpm has written about its last install, which may have been another than ours: `pnpm install --prod`. */
function stateOfModules() {
  const file = "node_modules/.modules.yaml";
  return existsSync(file) ? hashOf([file]) : "";
}

/** @param {readonly string[]} args */
function pnpm(...args) {
  return run(process.execPath, ["scripts/pnpm.js", ...args]);
}

/** Whether the driver of SQLite works. On Node 20, an install whose compiler fails succeeds without it. */
function hasDriver() {
  if (!process.versions.node.startsWith("20.")) return true;
  const load = "new (require('better-sqlite3'))(':memory:')";
  return spawnSync(process.execPath, ["-e", load]).status === 0;
}

function hashOfManifests() {
  return hashOf([
    ...["pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "package.json"],
    ...packageNames.map((name) => `packages/${name}/package.json`),
  ]);
}

/** @param {readonly string[]} files */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest("hex");
}
