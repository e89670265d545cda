import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { beforeAll } from "vitest";
import { untilListening, type ListeningProcess } from "./listening-process.js";

const cli = fileURLToPath(new URL("../..", import.meta.url));
const root = join(cli, "../..");
const NOT_BUNDLED = ["better-sqlite3", "better-sqlite3-13"] as const;

/** A `petstore serve` in a process of its own. */
export interface BuiltServer extends ListeningProcess {
  readonly pid: number;
  /** Sends a signal and resolves to how it ended. */
  end(signal: NodeJS.Signals): ListeningProcess["ended"];
}

/**
 * Has the command bundled from its source before the tests of a file, and removed after them: it starts
 * in a tenth of the time that running the source takes. Returns where to find it then.
 */
export function useBuiltPetstore(isWanted = true): () => string {
  const folder = join(tmpdir(), `petstore-built-${process.pid}`);
  beforeAll(async () => {
    if (isWanted) await buildInto(folder);
    return () => rmSync(folder, { recursive: true, force: true });
  });
  return () => join(folder, "bin.js");
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
    noExternal: [/^(?!better-sqlite3(?:-13)?$)/],
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
    // The newer driver is there only where Node has it run.
    if (!existsSync(join(cli, "node_modules", name))) continue;
    symlinkSync(join(cli, "node_modules", name), join(modules, name), "junction");
  }
  cpSync(join(cli, "src/serve/docs/page"), join(folder, "docs"), { recursive: true });
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js"]) {
    cpSync(resolve(`swagger-ui-dist/${name}`), join(folder, "docs", name));
  }
}

/** Starts a built command with these arguments before it, such as a tracer's. */
export async function startBuilt(
  command: readonly string[],
  ...args: readonly string[]
): Promise<BuiltServer> {
  const [program = "", ...before] = command;
  const child = spawn(program, [...before, "serve", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { url, output, ended } = await untilListening(child);
  const end = (signal: NodeJS.Signals): typeof ended => {
    child.kill(signal);
    return ended;
  };
  return { url, pid: child.pid ?? -1, output, end, ended };
}
