import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/**
 * Lets a process and what it starts later run on one core only, where `taskset` exists and there are two
 * cores: a server and its load then do not take each other's time.
 * @param {number | undefined} pid
 * @param {number} core
 */
export function pin(pid, core) {
  if (cpus().length > 1) spawnSync("taskset", ["-acp", String(core), String(pid)]);
}
