import { readdirSync, readFileSync } from "node:fs";

/**
 * The microseconds of processor time that a process and its children have had, without threads that have
 * ended; NaN where there is no /proc.
 * @param {number | undefined} parent
 */
export function cpuTimeOf(parent) {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8");
    return [`${parent}`, ...children.split(" ").filter((child) => child !== "")]
      .map(microsecondsOf)
      .reduce((sum, time) => sum + time, 0);
  } catch {
    return Number.NaN;
  }
}

/** @param {string} pid */
function microsecondsOf(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"))
    .reduce((sum, times) => sum + Number(times.split(" ")[0]) / 1_000, 0);
}
