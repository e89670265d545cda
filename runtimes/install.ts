import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { installRuntimes } from "../scripts/install-runtimes.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The project in which a runtime has installed the packed packages, and the command that runs a program of it. */
interface Runtime {
  readonly folder: string;
  readonly command: readonly [string, ...(readonly string[])];
}

declare module "vitest" {
  interface ProvidedContext {
    readonly runtimes: { readonly Bun: Runtime; readonly Deno: Runtime };
  }
}

const PACKAGES = ["core", "storage-sqlite", "http-adapter", "storage-contract"];
const PROGRAMS = [
  ...["examples/bun.ts", "examples/deno.ts"],
  ...["runtimes/meet-requirements.ts", "runtimes/own-server.ts"],
];

/** The permissions that docs/embedding.md lists. */
const PERMISSIONS = ["net=127.0.0.1", "read", "write", "env", "ffi", "sys"];

/** Installs Bun, Deno and the packages for the whole run of the tests, and removes everything at the end. */
export default function ({ provide }: TestProject): () => void {
  if (!PACKAGES.every((name) => existsSync(tarball(name)))) {
    throw new Error("The packages are not packed. Run `npm run pack` first.");
  }
  const folder = mkdtempSync(join(tmpdir(), "petstore-runtimes-"));
  const { bun, deno } = installRuntimes(createFolder(folder, "programs"));
  provide("runtimes", {
    Bun: installWithBun(createProject(folder, "bun"), bun),
    Deno: installWithDeno(createProject(folder, "deno"), deno),
  });
  return () => rmSync(folder, { recursive: true, force: true });
}

function installWithBun(folder: string, bun: string): Runtime {
  write(folder, "package.json", { private: true, type: "module" });
  run(folder, bun, "add", ...PACKAGES.map(tarball));
  return { folder, command: [bun] };
}

/** Deno installs no tarballs. It installs folders in the place of packages of the registry. */
function installWithDeno(folder: string, deno: string): Runtime {
  for (const name of PACKAGES) {
    run(createFolder(folder, name), "tar", "-xzf", tarball(name), "--strip-components=1");
  }
  const versions = PACKAGES.map((name) => [`@petstore/${name}`, versionOf(name)] as const);
  const dependencies = Object.fromEntries(versions);
  write(folder, "package.json", { private: true, type: "module", dependencies });
  write(folder, "deno.json", { links: PACKAGES.map((name) => `./${name}`) });
  run(folder, deno, "install", "--node-modules-dir=auto");
  const allowed = PERMISSIONS.map((permission) => `--allow-${permission}`);
  return { folder, command: [deno, "run", "--node-modules-dir=manual", ...allowed] };
}

function createProject(parent: string, name: string): string {
  const folder = createFolder(parent, name);
  for (const program of PROGRAMS) cpSync(join(root, program), join(folder, basename(program)));
  return folder;
}

function createFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder);
  return folder;
}

function tarball(name: string): string {
  return join(root, "dist", `petstore-${name}-${versionOf(name)}.tgz`);
}

function versionOf(name: string): string {
  const text = readFileSync(join(root, "packages", name, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

function write(folder: string, file: string, content: unknown): void {
  writeFileSync(join(folder, file), JSON.stringify(content));
}

function run(cwd: string, command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"], timeout: 300_000 });
}
