// Bun and Deno from npm, for the checks of the packed packages.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

// If a newer release differs on the wire, runtimes/conformance.test.ts and docs/embedding.md say so.
const BUN = { release: "bun@latest", install: "bun/install.js", program: "bun/bin/bun.exe" };
const DENO = { release: "deno@latest", install: "deno/install.cjs", program: "deno/deno" };

/**
 * Installs the newest Bun and Deno into an empty folder and returns the paths of both programs. Their install scripts
 * are run here, because npm 12 does not run them.
 *
 * @param {string} folder
 */
export function installRuntimes(folder) {
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  run(folder, "npm", "install", ...options, BUN.release, DENO.release);
  for (const { install } of [BUN, DENO]) {
    run(folder, process.execPath, join(folder, "node_modules", install));
  }
  const modules = join(folder, "node_modules");
  return { bun: join(modules, BUN.program), deno: join(modules, DENO.program) };
}

/**
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function run(cwd, command, ...args) {
  const shell = process.platform === "win32";
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    shell,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status === 0) return;
  const line = [command, ...args].join(" ");
  throw new Error(
    `Bun and Deno come from npm, and could not be installed. Try it in an empty folder: ${line}\n${stdout}${stderr}`,
    { cause: error },
  );
}
