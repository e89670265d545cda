import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { untilListening, type ListeningProcess } from "./listening-process.js";

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

/** A `petstore serve` in a process of its own. */
export interface RunningServer extends Pick<ListeningProcess, "url" | "output"> {
  /** Sends a signal and resolves to how it ended. */
  stop(signal?: NodeJS.Signals): ListeningProcess["ended"];
}

/** Starts a server on a free port and waits until it listens. It is killed when the test ends. */
export async function startServer(...args: readonly string[]): Promise<RunningServer> {
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), bin, "serve", "--port", "0", ...args],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const { url, output, ended } = await untilListening(child);
  return {
    url,
    output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}
