import { spawn } from "node:child_process";
import { constants } from "node:os";

/**
 * Runs a command with this terminal's output and no input; a signal to this process reaches it.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string }} [options]
 * @returns {Promise<number>} its exit code; 128 + the signal's number when a signal ended it
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ["ignore", "inherit", "inherit"],
      // npm and npx are batch files there, which only a shell can start.
      shell: process.platform === "win32",
    });
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward).on("SIGTERM", forward);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("SIGINT", forward).off("SIGTERM", forward);
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}
