import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { beforeAll, inject, onTestFinished, vi } from "vitest";

const cli = fileURLToPath(new URL("../..", import.meta.url));
const root = join(cli, "../..");
const NOT_BUNDLED = ["better-sqlite3", "better-sqlite3-13", "pg"] as const;

/** A `petstore serve` in a separate process, which is killed when the test ends. */
export interface BuiltServer {
  /** The base address that it printed. */
  readonly url: string;
  readonly pid: number;
  /** Everything that it has printed so far. */
  readonly output: () => string;
  /** How it ended: its exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends a signal and resolves to how it ended. */
  end(signal?: NodeJS.Signals): BuiltServer["ended"];
}

const folder = join(inject("sharedFolder"), "petstore");

/**
 * Bundles the command before the tests of a file, unless another file has: the bundle starts ten times
 * faster than the source. Returns a function that returns its path.
 */
export function useBuiltPetstore(isWanted = true): () => string {
  beforeAll(() => (isWanted ? buildOnce() : undefined), 60_000);
  return () => join(folder, "bin.js");
}

/** The first test file of a run builds. The others wait for it. */
async function buildOnce(): Promise<void> {
  const isBuilt = `${folder}.built`;
  try {
    mkdirSync(folder);
  } catch {
    await vi.waitUntil(() => existsSync(isBuilt), { timeout: 60_000 });
    return;
  }
  await buildInto(folder);
  mkdirSync(isBuilt);
}

/** Starts a built server on a free port with these options. */
export function startServer(...args: readonly string[]): Promise<BuiltServer> {
  return startBuilt([process.execPath, join(folder, "bin.js")], ...args);
}

/** Starts a built command with these options. `command` may begin with a tracer. */
export async function startBuilt(
  command: readonly string[],
  ...args: readonly string[]
): Promise<BuiltServer> {
  const [program = "", ...before] = command;
  const child = spawn(program, [...before, "serve", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => code ?? signal ?? -1,
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`;
      const [, address] = /listens on (\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    void ended.then((how) => reject(new Error(`ended with ${how}: ${output}`)));
  });
  const end = (signal: NodeJS.Signals = "SIGTERM"): typeof ended => {
    child.kill(signal);
    return ended;
  };
  return { url, pid: child.pid ?? -1, output: () => output, ended, end };
}

async function buildInto(folder: string): Promise<void> {
  await build({
    entry: { bin: join(cli, "src/bin.ts") },
    outDir: folder,
    format: "esm",
    target: "node20",
    platform: "node",
    tsconfig: join(root, "tsconfig.json"),
    // As in the real build: a native module cannot be bundled.
    external: [...NOT_BUNDLED],
    noExternal: [/^(?!(?:better-sqlite3(?:-13)?|pg)$)/],
    banner: {
      js: 'import { createRequire as _require } from "node:module"; const require = _require(import.meta.url);',
    },
    config: false,
    silent: true,
  });
  const { resolve } = createRequire(join(cli, "package.json"));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of NOT_BUNDLED) {
    // The newer driver is installed only on the versions of Node that it supports.
    if (!existsSync(join(cli, "node_modules", name))) continue;
    symlinkSync(join(cli, "node_modules", name), join(modules, name), "junction");
  }
  cpSync(join(cli, "src/serve/docs/page"), join(folder, "docs"), { recursive: true });
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js"]) {
    cpSync(resolve(`swagger-ui-dist/${name}`), join(folder, "docs", name));
  }
}
