import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import { freePort } from "../scripts/ports.js";
import manifest from "./manifest.json" with { type: "json" };

const root = fileURLToPath(new URL("..", import.meta.url));

/** A folder outside the workspace, in which tools of other people and packed packages of ours are installed. */
export interface Project {
  readonly folder: string;
  /** Runs Node with these arguments, such as a module of an installed package. It is an error if it fails. */
  readonly run: (...args: readonly string[]) => void;
}

/**
 * Installs the tools of a part of the manifest, pinned, and packages of ours, for the length of a test. The files of
 * the part, and what all hosts share, are copied there.
 */
export function install(part: keyof typeof manifest, packages: readonly string[]): Project {
  const folder = emptyFolder();
  const { name, version, installed } = driver();
  const withDriver = packages.includes("storage-sqlite");
  const dependencies = {
    ...manifest[part],
    ...Object.fromEntries(packages.map((each) => [`@petstore/${each}`, `file:${tarball(each)}`])),
    ...(withDriver ? { [name]: version } : {}),
  };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  const files = join(root, "checks", part);
  if (existsSync(files)) cpSync(files, folder, { recursive: true });
  for (const file of ["route.js", "store.js"])
    if (withDriver) cpSync(join(root, "checks/hosts", file), join(folder, file));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  execute(folder, "npm", "install", ...options);
  const compiled = join(installed, "build");
  if (withDriver && existsSync(compiled)) {
    // Compiling SQLite again would take minutes.
    cpSync(compiled, join(folder, "node_modules", name, "build"), { recursive: true });
  }
  return { folder, run: (...args) => execute(folder, process.execPath, ...args) };
}

/** Creates a folder for the length of a test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-checks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The driver of SQLite for this Node, as it is installed here. */
export function driver() {
  const name = process.versions.node.startsWith("20.") ? "better-sqlite3" : "better-sqlite3-13";
  const manifestFile = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { version } = JSON.parse(readFileSync(manifestFile, "utf8")) as {
    readonly version: string;
  };
  return { name: "better-sqlite3", version, installed: dirname(manifestFile) };
}

/** Where the tests run their programs. */
const PRODUCTION = { NODE_ENV: "production", CI: "true", NEXT_TELEMETRY_DISABLED: "1" };

/** Runs a program on a free port until the test ends. Resolves to the port when it listens. */
export async function start(
  folder: string,
  program: (port: number) => readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<number> {
  const port = await freePort();
  const address = { HOST: "127.0.0.1", HOSTNAME: "127.0.0.1", PORT: `${port}` };
  const child = spawn(process.execPath, program(port), {
    cwd: folder,
    env: { ...process.env, ...PRODUCTION, ...variables, ...address },
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null) await once(child, "exit");
  });
  const tryToConnect = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  };
  await vi.waitFor(tryToConnect, { timeout: 60_000, interval: 200 });
  return port;
}

function tarball(name: string): string {
  const file = join(root, "dist", `petstore-${name}-1.0.0.tgz`);
  if (!existsSync(file)) throw new Error(`${name} is not packed. Run \`npm run pack\` first.`);
  return file;
}

function execute(cwd: string, command: string, ...args: readonly string[]): void {
  const env = { ...process.env, ...PRODUCTION };
  const options = { cwd, env, encoding: "utf8", timeout: 300_000 } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}\n${stdout}${stderr}`);
}
