// Installs the dependencies, unless node_modules is already what the lockfile and manifests say.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run } from "./run.js";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const stampFile = "node_modules/.stamp";
// Native modules fit one platform and one ABI only.
const runtime = [process.platform, process.arch, process.versions.modules].join(" ");
const wanted = `${runtime}\n${hashOfManifests()}\n`;
const installed = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : undefined;

if (installed !== wanted) {
  rmSync(stampFile, { force: true });
  process.exitCode = await install();
  if (process.exitCode === 0) writeFileSync(stampFile, wanted);
}

async function install() {
  console.log("Installing dependencies. The first time takes minutes: SQLite may be compiled.");
  const code = await pnpm("install", "--frozen-lockfile", "--prod=false");
  const otherRuntime = installed !== undefined && !installed.startsWith(`${runtime}\n`);
  return code === 0 && otherRuntime ? pnpm("rebuild", "--recursive") : code;
}

/** @param {string[]} args */
function pnpm(...args) {
  return run(process.execPath, ["scripts/pnpm.js", ...args]);
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
