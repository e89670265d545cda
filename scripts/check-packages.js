// Packs every package as a release would, and uses the tarballs as a stranger would: from an empty
// project, by import, by require() and by a strict TypeScript compile.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules/.bin");
const packages = readdirSync(join(root, "packages"));
const names = packages.map((name) => `@petstore/${name}`);

/** What of others is bundled into a package, whose licence it has to bring. */
const BUNDLED = new Map([
  ["storage-sqlite", ["kysely"]],
  ["http-adapter", ["lossless-json", "valibot"]],
  ["cli", ["commander", "kysely", "lossless-json", "lru-cache", "neverthrow", "ts-pattern"]],
]);

const unbuilt = packages.filter((name) => !existsSync(join(root, "packages", name, "dist")));
if (unbuilt.length > 0) {
  console.error(`Not built: ${unbuilt.join(", ")}. Run \`npm run build\` first.`);
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
  const pnpm = [join(root, "scripts/pnpm.js"), "--filter", "./packages/*"];
  must("pack", root, process.execPath, ...pnpm, "pack", "--pack-destination", project);
  for (const name of packages) {
    must(`${name}: LICENSE`, project, "tar", "-tzf", tarball(name), "package/LICENSE");
    for (const library of BUNDLED.get(name) ?? []) {
      const notice = `package/dist/notices/${library}.txt`;
      must(`${name}: the licence of ${library}`, project, "tar", "-tzf", tarball(name), notice);
    }
    must(`${name}: publint`, project, join(bin, "publint"), "--strict", tarball(name));
    must(`${name}: types`, project, join(bin, "attw"), tarball(name), "--profile", "esm-only");
  }
  install(["cli"]);
  const command = join(project, "node_modules/.bin/petstore");
  must("petstore, by itself", project, command, "keys", "issue", "--plan", "free");
  install(packages);
  useInJavaScript();
  useInTypeScript();
}

/**
 * Installs only these packages into the project.
 * @param {readonly string[]} wanted
 */
function install(wanted) {
  const sqlite = workspaceSqlite();
  const tarballs = wanted.map((name) => [`@petstore/${name}`, `file:${tarball(name)}`]);
  for (const left of ["node_modules", "package-lock.json"]) {
    rmSync(join(project, left), { recursive: true, force: true });
  }
  write("package.json", {
    private: true,
    type: "module",
    dependencies: {
      ...Object.fromEntries(tarballs),
      "@types/node": manifest(join(root, "node_modules/@types/node")).version,
    },
    overrides: { "better-sqlite3": sqlite.version },
  });
  // Compiling SQLite again would take minutes and prove nothing about these packages.
  must(
    `install ${wanted.join(", ")} into an empty project`,
    project,
    "npm",
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
  );
  cpSync(join(sqlite.directory, "build"), join(project, "node_modules/better-sqlite3/build"), {
    recursive: true,
  });
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
    [...imports, `export const all = [${names.map((_, i) => `p${i}`).join()}];`].join("\n"),
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
      types: ["node"],
    },
    files: ["consumer.ts"],
  });
  must("strict TypeScript", project, join(bin, "tsc"), "--project", project);
}

function workspaceSqlite() {
  const require = createRequire(join(root, "packages/storage-sqlite/package.json"));
  const directory = dirname(require.resolve("better-sqlite3/package.json"));
  return { directory, version: manifest(directory).version };
}

/** @param {string} name */
function tarball(name) {
  const { version } = manifest(join(root, "packages", name));
  return join(project, `petstore-${name}-${version}.tgz`);
}

/**
 * @param {string} directory
 * @returns {{ version: string }}
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
