import { readFileSync } from "node:fs";

/** Linux counts in hundredths of a second. */
const TICK = 10_000;

/**
 * The microseconds of processor time that a process and its children have had; NaN where there is no
 * /proc.
 * @param {number | undefined} parent
 */
export function cpuTimeOf(parent) {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8");
    return [`${parent}`, ...children.split(" ").filter((child) => child !== "")]
      .map((pid) => ticksOf(pid) * TICK)
      .reduce((sum, time) => sum + time, 0);
  } catch {
    return Number.NaN;
  }
}

/** @param {string} pid */
function ticksOf(pid) {
  // The name of the program, in parentheses, may hold anything.
  const [, rest = ""] = /\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  const [user, system] = rest.split(" ").slice(11, 13).map(Number);
  return (user ?? 0) + (system ?? 0);
}
