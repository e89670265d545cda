// What is measured: the list of cases, in the order in which `npm run bench -- all` measures them.
import { admit } from "./cases/admit.js";
import { http, workers } from "./cases/http.js";
import { inProcess } from "./cases/in-process.js";
import { latency } from "./cases/latency.js";
import { optimisations } from "./cases/optimisations.js";
import { postgres } from "./cases/postgres.js";
import { scale } from "./cases/scale.js";

/** @import { Operation } from "./instrument/load.js" */
/** @import { Section } from "./instrument/results.js" */

/** `seconds` are those of one measurement. @typedef {{ rounds: number, seconds: number, pets: number }} Extent */

/**
 * How a case is measured: which servers or rows are chosen, and a folder for what the profiler writes.
 * @typedef {Extent & {
 *   operations: readonly Operation[],
 *   profiles: string | undefined,
 *   chosen: <T extends { name: string }>(all: readonly T[]) => readonly T[],
 * }} Options
 */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} measures
 * @property {Extent} defaults
 * @property {readonly Operation[]} [operations]
 * @property {(extent: Extent) => number} secondsOfRound about how long a round takes
 * @property {(options: Options) => Promise<readonly Section[]>} run returns the tables of results.json that it replaces
 */

/** @type {readonly Case[]} */
export const cases = [
  ...[inProcess, optimisations, http, latency],
  ...[workers, admit, scale, postgres],
];

/** About how many minutes a case takes. @param {Case} one @param {Partial<Extent>} extent */
export function minutesOf({ secondsOfRound, defaults }, extent) {
  const options = { ...defaults, ...extent };
  return Math.max(1, Math.round((20 + options.rounds * secondsOfRound(options)) / 60));
}
