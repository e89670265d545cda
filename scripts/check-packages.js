// Uses the tarballs in dist/ as a stranger would: from empty projects of npm and pnpm, by import, by
// require() and by a strict TypeScript compile. `npm run pack` writes the tarballs.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { installRuntimes } from "./install-runtimes.js";
import { publishedNames as packages } from "./packages.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules/.bin");
/** What can be imported, by its name: each package, and its subpaths. */
const names = packages.flatMap((name) => {
  const paths = Object.keys(manifest(join(root, "packages", name)).exports);
  return paths
    .filter((path) => path !== "./package.json")
    .map((path) => posix.join("@petstore", name, path));
});

const DRY_RUN = ["--dry-run", "--access", "public", "--ignore-scripts"];

/** What of others is bundled into a package, whose licence it has to bring. */
const BUNDLED = new Map([
  ["core", ["valibot"]],
  ["storage-sqlite", ["kysely", "lru-cache", "valibot"]],
  ["storage-postgres", ["kysely", "lru-cache", "valibot"]],
  ["http-adapter", ["lossless-json", "valibot"]],
  ["client", ["lossless-json"]],
  ["console", ["preact", "valibot"]],
  [
    "cli",
    [
      "@hono-node-server",
      "@opentelemetry-api",
      "ansi-regex",
      "bintrees",
      "commander",
      "csv-parse",
      "get-east-asian-width",
      "hono",
      "kysely",
      "lossless-json",
      "lru-cache",
      "neverthrow",
      "preact",
      "prom-client",
      "string-width",
      "strip-ansi",
      "tdigest",
      "ts-pattern",
      "valibot",
    ],
  ],
]);

/** Functions whose return types the compiler has to name, or to write out, in declarations. */
const INFERRED = `
import { createPetStore, type Caller, type PetStore } from "@petstore/core";
import { createPetsClient, petsOf } from "@petstore/client";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import { createPetStoreServer } from "@petstore/http-adapter";
const remote = createPetsClient({ baseUrl: "http://127.0.0.1", apiKey: "" });
const rex = { name: "Rex", categoryId: 1n };
export const local = (c: Caller) => [c.admit(), c.listPets(), c.createPet(rex), c.getPet(1n)] as const;
export const ofClient = () => [remote, remote.listPets(), remote.createPet(rex), remote.getPet(1n)] as const;
export const pets = () => petsOf(remote);
export const ofHost = (store: PetStore) => [store.keys.issue({ plan: "free" }), store.close()] as const;
export const open = () => openSqliteStorage({ filename: "petstore.db" });
export const serve = () => createPetStoreServer(createPetStore());`;

/** better-sqlite3 12, which Node 20 alone needs, is compiled. */
const isNode20 = process.versions.node.startsWith("20.");

/** @type {[string, string]} */
const PETSTORE = [process.execPath, "node_modules/@petstore/cli/bin/petstore.js"];

const missing = packages.filter((name) => !existsSync(tarball(name)));
if (missing.length > 0) {
  console.error(`Not packed: ${missing.join(", ")}. Run \`npm run pack\` first.`);
  process.exit(1);
}

const project = mkdtempSync(join(tmpdir(), "petstore-packages-"));
try {
  checkPackages();
  console.log(`check:packages: all ${packages.length} packages are fit to publish`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(project, { recursive: true });
}

function checkPackages() {
  for (const name of packages) {
    must(`${name}: LICENSE`, project, "tar", "-tzf", tarball(name), "package/LICENSE");
    for (const library of BUNDLED.get(name) ?? []) {
      const notice = `package/dist/notices/${library}.txt`;
      must(`${name}: the licence of ${library}`, project, "tar", "-tzf", tarball(name), notice);
    }
    must(`${name}: publint`, project, join(bin, "publint"), "--strict", tarball(name));
    must(`${name}: types`, project, join(bin, "attw"), tarball(name), "--profile", "esm-only");
    must(`${name}: publish`, project, "npm", "publish", tarball(name), ...DRY_RUN);
    const readme = textIn(name, "README.md");
    const relative = /\]\((?![a-z]+:|#)[^)]*\)/.exec(readme);
    if (relative !== null)
      throw new Error(`FAILED: ${name}: a link of README.md is ${relative[0]}`);
  }
  installWithNpm(["cli"]);
  must("petstore, by itself", project, ...PETSTORE, "keys", "issue", "--plan", "free");
  installWithNpm(packages);
  useInJavaScript();
  useInTypeScript();
  useClientElsewhere();
  installWithPnpm(packages);
  useInJavaScript();
  if (isNode20) useWithoutDriver();
  must("petstore, with pnpm", project, ...PETSTORE, "keys", "list");
}

/** @param {readonly string[]} wanted */
function installWithNpm(wanted) {
  declare(wanted);
  // npm 12 runs no install scripts unless it is told to. It does not run on Node 20.
  /** @type {[string, ...string[]]} */
  const npm = isNode20 ? ["npm"] : ["npx", "--yes", "npm@12"];
  // Compiling SQLite again would take minutes and prove nothing about these packages.
  const options = ["--no-audit", "--no-fund", ...(isNode20 ? ["--ignore-scripts"] : [])];
  must(`npm install ${wanted.join(", ")}`, project, ...npm, "install", ...options);
  checkDriver();
  if (isNode20) addDriver(join(project, "node_modules/better-sqlite3"));
}

/**
 * pnpm runs no install scripts unless it is told to.
 * @param {readonly string[]} wanted
 */
function installWithPnpm(wanted) {
  declare(wanted);
  const pnpm = `pnpm@${manifest(root).config.pnpm}`;
  must(`pnpm install ${wanted.join(", ")}`, project, "npx", "--yes", pnpm, "install");
  checkDriver();
}

/** Checks that nothing was compiled, nor has to be on Node 22 and newer. */
function checkDriver() {
  const installed = join(project, "node_modules/better-sqlite3");
  if (existsSync(installed) !== isNode20 || existsSync(join(installed, "build"))) {
    throw new Error("FAILED: better-sqlite3 12 is for Node 20 alone, and not compiled yet");
  }
}

/**
 * Declares packages as README.md installs them.
 * @param {readonly string[]} wanted
 */
function declare(wanted) {
  const tarballs = wanted.map((name) => [`@petstore/${name}`, `file:${tarball(name)}`]);
  const driver = isNode20 ? { "better-sqlite3": manifest(workspaceSqlite()).version } : {};
  for (const left of ["node_modules", "package-lock.json"]) {
    rmSync(join(project, left), { recursive: true, force: true });
  }
  write("package.json", {
    private: true,
    type: "module",
    dependencies: {
      ...Object.fromEntries(tarballs),
      ...driver,
      "@types/node": manifest(join(root, "node_modules/@types/node")).version,
    },
  });
}

/** @param {string} folder */
function addDriver(folder) {
  cpSync(join(workspaceSqlite(), "build"), join(folder, "build"), { recursive: true });
}

/** Expects the error of a driver that was not compiled, and compiles it by copying the workspace's. */
function useWithoutDriver() {
  write(
    "open.js",
    `import { openSqliteStorage } from "@petstore/storage-sqlite";
const opened = await openSqliteStorage({ filename: "petstore.db" });
process.exitCode = opened.isErr() && opened.error.code === "driver_unavailable" ? 0 : 1;`,
  );
  must("the error of a driver that was not compiled", project, process.execPath, "open.js");
  addDriver(join(project, "node_modules/better-sqlite3"));
}

function useInJavaScript() {
  write("import.js", names.map((name) => `await import("${name}");`).join("\n"));
  write("require.cjs", names.map((name) => `require("${name}");`).join("\n"));
  must("import", project, process.execPath, "import.js");
  must("require()", project, process.execPath, "--no-warnings", "require.cjs");
}

function useInTypeScript() {
  const imports = names.map((name, i) => `import * as p${i} from "${name}";`);
  write(
    "consumer.ts",
    `${imports.join("\n")}
export const all = [${names.map((_, i) => `p${i}`).join()}];
${INFERRED}`,
  );
  write("tsconfig.json", {
    compilerOptions: {
      target: "ES2022",
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      declaration: true,
      types: ["node"],
    },
    files: ["consumer.ts"],
  });
  /** @type {[string, ...string[]]} */
  const tsc = [join(bin, "tsc"), "--project", project];
  must("strict TypeScript", project, ...tsc);
  const bundler = ["--module", "ESNext", "--moduleResolution", "Bundler"];
  must("strict TypeScript for a bundler", project, ...tsc, ...bundler);
}

/** Runs the client in other runtimes, against a server in Node. The client needs only its one dependency there. */
function useClientElsewhere() {
  write(
    "serve.js",
    `import { spawn } from "node:child_process";
import { createPetStore } from "@petstore/core";
import { createPetStoreServer } from "@petstore/http-adapter";
const store = createPetStore();
const { value } = await store.keys.issue({ plan: "free" });
const server = createPetStoreServer(store).listen(0, "127.0.0.1", () => {
  const baseUrl = \`http://127.0.0.1:\${server.address().port}/v1\`;
  const [command, ...args] = process.argv.slice(2);
  const client = spawn(command, [...args, baseUrl, value.secret], { stdio: "inherit" });
  client.on("exit", (code) => process.exit(code ?? 1));
});`,
  );
  write(
    "client.js",
    `import { createPetsClient, petsOf } from "@petstore/client";
const [baseUrl, apiKey] = globalThis.Deno?.args ?? process.argv.slice(2);
const pets = createPetsClient({ baseUrl, apiKey });
await pets.createPet({ name: "Rex", categoryId: 9007199254740993n });
let seen = "";
for await (const pet of petsOf(pets)) seen += pet.isOk() ? pet.value.categoryId : pet.error.code;
if (seen !== "9007199254740993") throw new Error(seen);
const listed = await Promise.all(Array.from({ length: 70 }, () => pets.listPets({}, { deadlineSeconds: 5 })));
const refused = listed.filter((each) => each.isErr()).map(({ error }) => error.code);
if (refused.length !== 12 || new Set(refused).size !== 1) throw new Error(refused.join());`,
  );
  /** @type {[string, string]} */
  const serve = [process.execPath, "serve.js"];
  const programs = join(project, "programs");
  mkdirSync(programs);
  const { bun, deno } = installRuntimes(programs);
  for (const [runtime, ...command] of [
    ["Node", process.execPath, "client.js"],
    ["Bun", bun, "client.js"],
    ["Deno", deno, "run", "--allow-net", "--node-modules-dir=manual", "client.js"],
  ]) {
    must(`@petstore/client in ${runtime}`, project, ...serve, ...command);
  }
}

function workspaceSqlite() {
  return dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json"));
}

/**
 * @param {string} name
 * @param {string} file
 */
function textIn(name, file) {
  const args = ["-xzOf", tarball(name), `package/${file}`];
  return spawnSync("tar", args, { encoding: "utf8" }).stdout;
}

/** @param {string} name */
function tarball(name) {
  const { version } = manifest(join(root, "packages", name));
  return join(root, "dist", `petstore-${name}-${version}.tgz`);
}

/**
 * @param {string} directory
 * @returns {{ version: string, config: { pnpm: string }, private?: boolean, exports: object }}
 */
function manifest(directory) {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
}

/**
 * @param {string} file
 * @param {unknown} content
 */
function write(file, content) {
  const text = typeof content === "string" ? content : JSON.stringify(content, undefined, 2);
  writeFileSync(join(project, file), `${text}\n`);
}

/**
 * Runs a command, and shows what it said only when it fails.
 *
 * @param {string} what
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function must(what, cwd, command, ...args) {
  const shell = process.platform === "win32";
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    shell,
    encoding: "utf8",
  });
  if (status !== 0) {
    throw new Error(`FAILED: ${what}: ${[command, ...args].join(" ")}\n${stdout}${stderr}`, {
      cause: error,
    });
  }
  console.log(`ok: ${what}`);
}
