import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

/** A `petstore serve` in a process of its own. */
export interface RunningServer {
  /** The base address that it printed. */
  readonly url: string;
  /** Everything that it has printed so far. */
  output(): string;
  /** Sends a signal and resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server on a free port and waits until it listens. It is killed when the test ends. */
export async function startServer(...args: readonly string[]): Promise<RunningServer> {
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), bin, "serve", "--port", "0", ...args],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const exited = once(child, "exit").then(([code]: (number | null)[]) => code ?? null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`;
      const [, address] = /listens on (\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    void exited.then((code) => reject(new Error(`exited with ${String(code)}: ${output}`)));
  });
  return {
    url,
    output: () => output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
}
