import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

/**
 * Runs work while no other process runs work under the same lock file. A process that was killed has left its lock,
 * which then does not count.
 *
 * @template T
 * @param {string} lockFile
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(lockFile, work) {
  mkdirSync(dirname(lockFile), { recursive: true });
  await take(lockFile);
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** @param {string} lockFile */
async function take(lockFile) {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: "wx" });
      return;
    } catch {
      if (!isRunning(lockFile)) rmSync(lockFile, { force: true });
      else if (!isWaiting) console.log("Waiting for another process that works in this folder.");
      await setTimeout(300);
    }
  }
}

/** @param {string} lockFile */
function isRunning(lockFile) {
  try {
    process.kill(Number(readFileSync(lockFile, "utf8")), 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
