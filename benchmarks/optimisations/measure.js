import { median } from "../report/median.js";

/**
 * Does something this many times.
 * @typedef {(times: number) => unknown} Work
 */

/**
 * An optimisation: what it saves for each `unit`. `sample` is how many units are done in a round.
 * @typedef {object} Optimisation
 * @property {string} name
 * @property {string} file
 * @property {string} unit
 * @property {number} sample
 * @property {number} [mostRounds] for what takes long
 * @property {() => number} [now] the clock, in microseconds
 * @property {Work} optimised
 * @property {Work} plain
 */

/**
 * Microseconds for each unit, with and without an optimisation, and how many times as long it takes
 * without. Both are timed in each round, in turns the one or the other first.
 * @param {Optimisation} optimisation
 * @param {number} rounds
 */
export async function compare(optimisation, rounds) {
  const { sample, mostRounds = rounds, now = wallClock, optimised, plain } = optimisation;
  /** @type {{ optimised: number[], plain: number[] }} */
  const times = { optimised: [], plain: [] };
  for (let round = -1; round < Math.min(rounds, mostRounds); round += 1) {
    const order = /** @type {const} */ ([
      ["optimised", optimised],
      ["plain", plain],
    ]);
    for (const [name, work] of round % 2 === 0 ? order : order.toReversed()) {
      const start = now();
      await work(sample);
      const time = (now() - start) / sample;
      // The first round warms up.
      if (round >= 0) times[name].push(time);
    }
  }
  return {
    optimised: median(times.optimised),
    plain: median(times.plain),
    ratio: median(times.plain.map((time, round) => time / (times.optimised[round] ?? Number.NaN))),
  };
}

function wallClock() {
  return performance.now() * 1_000;
}

/**
 * Repeats a call that nothing waits for.
 * @param {(index: number) => unknown} call
 * @returns {Work}
 */
export function repeat(call) {
  return (times) => {
    for (let index = 0; index < times; index += 1) call(index);
  };
}

/**
 * Repeats a call that each of so many callers waits for.
 * @param {number} callers
 * @param {(index: number) => unknown} call
 * @returns {Work}
 */
export function repeatBy(callers, call) {
  return async (times) => {
    for (let index = 0; index < times; index += callers) {
      await Promise.all(Array.from({ length: callers }, (_, caller) => call(index + caller)));
    }
  };
}
