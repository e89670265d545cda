// Builds what has changed, then becomes `petstore <arguments>`: one process, so that a signal reaches the
// server.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exclusively } from "./exclusively.js";
import { packageNames } from "./packages.js";
import { run } from "./run.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "packages/cli/bin/petstore.js");
const stampFile = join(root, "node_modules/.built");
const lockFile = join(root, "node_modules/.building");

const sources = hashOfSources();
const wasBuilt = isBuilt();
const problem = wasBuilt ? undefined : await problemWithPort();

if (problem !== undefined) {
  console.error(`petstore: ${problem}`);
  process.exitCode = 1;
} else if (wasBuilt || (await exclusively(lockFile, buildUnlessBuilt))) {
  // Workers run this file.
  process.argv[1] = command;
  await import("../packages/cli/bin/petstore.js");
} else {
  process.exitCode = 1;
}

function isBuilt() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp();
}

/** Another process may have built meanwhile. */
async function buildUnlessBuilt() {
  return isBuilt() || (await build());
}

async function build() {
  rmSync(stampFile, { force: true });
  const isInstalled = existsSync(join(root, "node_modules/.stamp"));
  console.log(
    isInstalled
      ? "Building… It takes about half a minute, and is only done after a change."
      : "Installing and building… The first time, it takes about a minute, and minutes on Node 20.",
  );
  if ((await run("npm", ["run", "--silent", "build"], { cwd: root })) !== 0) return false;
  writeFileSync(stampFile, stamp());
  return true;
}

/** Names the sources and what was built from them, for this version of Node. */
function stamp() {
  return [sources, hashOf(filesIn("packages/cli/dist")), process.versions.modules, ""].join("\n");
}

function hashOfSources() {
  const packages = packageNames.map((name) => `packages/${name}`);
  return hashOf([
    ...["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "tsup.config.ts"],
    ...["tsconfig.json", "tsconfig.build.json"],
    ...filesIn("scripts"),
    ...packages.flatMap((folder) => [
      ...["package.json", "tsup.config.ts"].map((name) => `${folder}/${name}`),
      ...filesIn(`${folder}/src`),
    ]),
  ]);
}

/** @param {string} folder */
function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

/** @param {readonly string[]} files */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** Says why the server could not listen, so that nobody waits for a build first. */
async function problemWithPort() {
  const option = /** @type {const} */ ({ type: "string" });
  const { values } = parseArgs({ strict: false, options: { host: option, port: option } });
  const host = String(values.host ?? set("PETSTORE_HOST") ?? set("HOST") ?? "127.0.0.1");
  const port = String(values.port ?? set("PETSTORE_PORT") ?? set("PORT") ?? "3000");
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    const name = values.port === undefined ? "PORT" : "--port";
    return `${name} is '${port}'. It must be a whole number, from 0 to 65535.`;
  }
  const server = createServer();
  /** @type {NodeJS.ErrnoException | undefined} */
  const error = await new Promise((resolve) => {
    server.once("error", resolve).listen(Number(port), host, () => resolve(undefined));
  });
  server.close();
  if (error === undefined) return undefined;
  const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
  return `cannot listen on ${host} port ${port}: ${reason}`;
}

/**
 * Returns an environment variable; an empty one counts as not set.
 * @param {string} name
 */
function set(name) {
  const value = process.env[name];
  return value === "" ? undefined : value;
}
