import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import { freePort } from "../scripts/ports.js";
import manifest from "./manifest.json" with { type: "json" };

/** The packages of each part, pinned. */
const parts: Readonly<Record<keyof typeof manifest, Readonly<Record<string, string>>>> = manifest;
const root = fileURLToPath(new URL("..", import.meta.url));

/** A folder outside the workspace, in which tools of other people and packed packages of ours are installed. */
export interface Project {
  readonly folder: string;
  /** Copies a file or folder of `checks` or `examples` into the project. */
  readonly copy: (source: string, target: string) => void;
  /** Runs a module of an installed package. Returns what it prints; it is an error if it fails. */
  readonly run: (module: string, ...args: readonly string[]) => string;
}

/** Installs the tools of a part of the manifest, and packages of ours, for the length of a test. */
export function install(part: keyof typeof parts, packages: readonly string[]): Project {
  const folder = emptyFolder();
  const ours = packages.map((name) => [`@petstore/${name}`, `file:${tarball(name)}`] as const);
  const withDriver = packages.includes("storage-sqlite");
  const { name, version, installed } = driver();
  const dependencies = {
    ...parts[part],
    ...Object.fromEntries(ours),
    ...(withDriver ? { [name]: version } : {}),
  };
  const content = { private: true, type: "module", dependencies };
  writeFileSync(join(folder, "package.json"), JSON.stringify(content));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  execute(folder, "npm", "install", ...options);
  const compiled = join(installed, "build");
  if (withDriver && existsSync(compiled)) {
    // Compiling SQLite again would take minutes.
    cpSync(compiled, join(folder, "node_modules", name, "build"), { recursive: true });
  }
  return {
    folder,
    copy: (source, target) => {
      mkdirSync(dirname(join(folder, target)), { recursive: true });
      cpSync(join(root, source), join(folder, target), { recursive: true });
    },
    run: (module, ...args) => execute(folder, process.execPath, join(folder, module), ...args),
  };
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
  const installed = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return { name: "better-sqlite3", version, installed };
}

/** Runs a program on a free port until the test ends. Resolves to the port when it listens. */
export async function start(
  folder: string,
  program: (port: number) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, program(port), {
    cwd: folder,
    env: {
      ...process.env,
      ...env,
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      HOSTNAME: "127.0.0.1",
      PORT: `${port}`,
    },
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

function execute(cwd: string, command: string, ...args: readonly string[]): string {
  const env = { ...process.env, NODE_ENV: "production", CI: "true", NEXT_TELEMETRY_DISABLED: "1" };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(" ")}\n${stdout}${stderr}`);
}
