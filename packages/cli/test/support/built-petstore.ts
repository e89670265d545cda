import { spawn, type CommonSpawnOptions } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, onTestFinished } from "vitest";
import { useBundled } from "../../../../scripts/bundled-programs.js";

export const root = fileURLToPath(new URL("../../../..", import.meta.url));
export const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const bundled = (): string => join(inject("sharedFolder"), "petstore/bin.js");

/** Bundles the command before the tests of a file. Returns a function that returns its path. */
export function useBuiltPetstore(): () => string {
  useBundled("petstore", ["packages/cli/src/bin.ts"], copyDocsPage);
  return bundled;
}

/** Options of Node with which pauses of less than 5 s are this many times shorter. What is longer may be a timeout. */
export const hurried = (pace: number): readonly string[] => [
  "--import",
  `data:text/javascript,import timers from "node:timers/promises";
    import { syncBuiltinESMExports } from "node:module";
    const { setTimeout } = timers;
    timers.setTimeout = (pause, ...more) => setTimeout(pause / ${pace} ** Number(pause < 5000), ...more);
    syncBuiltinESMExports();`,
];

/** A `petstore serve` in a separate process, which is killed when the test ends. */
export type BuiltServer = Awaited<ReturnType<typeof startUntil>>;

export const startServer = (...args: readonly string[]): Promise<BuiltServer> =>
  startBuilt([process.execPath, bundled()], ...args);

/** Starts a built server, too. `command` may have a tracer before it, or options of Node. */
export const startBuilt = (command: readonly string[], ...args: readonly string[]) =>
  startProgram([...command, "serve", "--port", "0", ...args]);

/** Starts a server with any command and these options of `spawn`. */
export const startProgram = (command: readonly string[], options: CommonSpawnOptions = {}) =>
  startUntil(/listens on (\S+)\s/, command, options);

/** Starts a built console of this database with these options. Its `url` is the link that it printed. */
export function startConsole(database: string, ...options: readonly string[]) {
  const command = [process.execPath, bundled(), "console", "--database", database, ...options];
  return startUntil(/(http:\/\/\S+#token=\S+)\s/, command);
}

/** Starts the built command without waiting for it. It is killed when the test ends. */
export const startCommand = (...args: readonly string[]) =>
  startAny([process.execPath, bundled(), ...args]);

/** Starts any command, too, with these options of `spawn`. */
export function startAny([program = "", ...args]: readonly string[], options = {}) {
  // The program finds its driver behind a link, as pnpm installs it. A test runner may set NODE_PATH.
  const child = spawn(program, args, { env: { ...process.env, NODE_PATH: "" }, ...options });
  const howAt = async (event: "exit" | "close") => {
    const [code, signal] = (await once(child, event)) as (number | NodeJS.Signals | null)[];
    return code ?? signal ?? -1;
  };
  const exited = howAt("exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.on("data", (text: string) => (errors += text));
  /** Everything that it has printed so far, and the errors among it. */
  return { child, output: () => output, errors: () => errors, exited, ended: howAt("close") };
}

/** The processes that a process has started and that run: none when it has ended, or if this is not Linux. */
export function workersOf({ pid = -1 }: { readonly pid?: number | undefined }): readonly number[] {
  const children = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(children)) return [];
  return readFileSync(children, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

async function startUntil(
  addressIn: RegExp,
  command: readonly string[],
  options: CommonSpawnOptions = {},
) {
  const stdio = ["ignore", "pipe", "pipe"];
  const { child, output, errors, exited, ended } = startAny(command, { ...options, stdio });
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", () => {
        const [, address] = addressIn.exec(output()) ?? [];
        if (address !== undefined) resolve(address);
      });
    void ended.then((how) => reject(new Error(`ended with ${how}: ${output()}`)));
  });
  const end = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return exited;
  };
  return { url, pid: child.pid ?? -1, ended: exited, end, output, errors };
}

function copyDocsPage(folder: string): void {
  const { resolve } = createRequire(join(root, "packages/cli/package.json"));
  cpSync(join(root, "packages/cli/src/serve/docs/page"), join(folder, "docs"), { recursive: true });
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js"])
    cpSync(resolve(`swagger-ui-dist/${name}`), join(folder, "docs", name));
}
