// Packs every package that is published into dist/, as a release would. The packages must be built.
//
// Whoever publishes them sets `repository` in the package.json of the root, to a URL such as
// https://example.com/owner/name. Then the packages have it, `homepage` and `bugs`, and the links of their READMEs lead
// there. Without it, they have none of these fields, and what would be a dead link is text.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedNames } from "./packages.js";
import { run } from "./run.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const destination = join(root, "dist");
/** @type {{ repository?: string }} */
const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(destination, { recursive: true, force: true });
const pnpm = [
  join(root, "scripts/pnpm.js"),
  "--silent",
  ...publishedNames.flatMap((name) => ["--filter", `@petstore/${name}`]),
];
process.exitCode = await run(
  process.execPath,
  [...pnpm, "pack", "--pack-destination", destination],
  { cwd: root },
);
if (process.exitCode === 0) readdirSync(destination).forEach(complete);

/**
 * Packs a package again, with the fields and the links that lead to the repository.
 * @param {string} file the name of the package's file
 */
function complete(file) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-pack-"));
  must("tar", "-xzf", join(destination, file), "-C", folder);
  const packed = join(folder, "package");
  /** @type {Record<string, unknown> & { name: string }} */
  const manifest = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
  const directory = `packages/${manifest.name.replace("@petstore/", "")}`;
  if (repository !== undefined) {
    manifest["repository"] = { type: "git", url: `git+${repository}.git`, directory };
    manifest["homepage"] = `${repository}/tree/HEAD/${directory}#readme`;
    manifest["bugs"] = `${repository}/issues`;
  }
  writeFileSync(join(packed, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const readme = join(packed, "README.md");
  writeFileSync(readme, withLinks(readFileSync(readme, "utf8"), directory));
  must("npm", "pack", packed, "--ignore-scripts", "--silent", "--pack-destination", destination);
  rmSync(folder, { recursive: true });
}

/**
 * Makes the relative links of a document absolute, or text if there is no repository.
 * @param {string} text
 * @param {string} directory where the document is, from the root
 */
function withLinks(text, directory) {
  return text.replace(/\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)/g, (_, label, target) => {
    const path = posix.join(directory, String(target));
    return repository === undefined ? label : `[${label}](${repository}/blob/HEAD/${path})`;
  });
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function must(command, ...args) {
  const shell = process.platform === "win32";
  const { status, stderr } = spawnSync(command, args, { shell, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}\n${stderr}`);
}
