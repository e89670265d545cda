// The speed of a machine changes within seconds, and its host takes time away. So contenders are measured in turns, and
// compared within a turn.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** A measurement is repeated when the host has taken a larger share of the processors' time. */
export const MOST_STOLEN = 0.01;

/** How often one measurement is made at most. */
export const TRIES = 5;

/** @typedef {Readonly<Record<string, number>>} Figures what a measurement found, by name */
/** @typedef {ReturnType<typeof createSamples>} Samples */
/** @typedef {(times: number) => unknown} Work does something this many times */
/** @typedef {{ name: string, work: Work, times: number, clocks?: Readonly<Record<string, () => number>>, prepare?: () => unknown }} Contender */

/**
 * Gives each contender a turn in each round, every round another one first, so that the order favours none. Contenders
 * in an array of their own have adjacent turns, and alternate.
 * @template T
 * @param {readonly (T | readonly T[])[]} contenders
 * @param {number} rounds
 * @param {(contender: T, round: number) => unknown} measure
 * @param {number} [first] the number of the first round
 */
export async function takeTurns(contenders, rounds, measure, first = 0) {
  for (let round = first; round < first + rounds; round += 1) {
    for (const pair of rotated(contenders, round)) {
      const both = /** @type {readonly T[]} */ ([pair].flat());
      for (const contender of rotated(both, round)) await measure(contender, round);
    }
  }
}

/** @template T @param {readonly T[]} all @param {number} by */
function rotated(all, by) {
  const start = by % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

/** Collects what was measured, by the name of the contender, in the order of the turns. */
export function createSamples() {
  /** @type {Map<string, Figures[]>} */
  const taken = new Map();
  const all = (/** @type {string} */ name, /** @type {string} */ figure) =>
    (taken.get(name) ?? []).map((figures) => figures[figure] ?? Number.NaN);
  /** @param {string} name @param {string} base @param {string} figure */
  const ratios = (name, base, figure) => {
    const others = all(base, figure);
    return all(name, figure).map((value, turn) => value / (others[turn] ?? Number.NaN));
  };
  return {
    has: (/** @type {string} */ name) => taken.has(name),
    /** Adds a turn, and says so. @param {string} name @param {Figures} figures */
    add: (name, figures) => {
      taken.set(name, [...(taken.get(name) ?? []), figures]);
      console.error(name, JSON.stringify(figures));
    },
    all,
    /** The ratios to another contender, each within a turn. */
    ratios,
    /** The median of a figure, as text. @param {string} name @param {string} figure @param {number} [digits] */
    median: (name, figure, digits = 0) => median(all(name, figure)).toFixed(digits),
    /** The median of the ratios, as text. @param {string} name @param {string} base @param {string} figure */
    ratio: (name, base, figure) => median(ratios(name, base, figure)).toFixed(2),
  };
}

/** @param {readonly number[]} all */
export function median(all) {
  const sorted = all.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Measures, and repeats it while the host gives much processor time of this virtual machine to others. Returns the figures
 * from which it took least, and its share of the processors' time.
 * @param {() => Promise<Figures>} measure
 */
export async function measureUndisturbed(measure) {
  /** @type {{ figures: Figures, stolen: number }} */
  let least = { figures: {}, stolen: Infinity };
  for (let tries = 0; tries < TRIES && least.stolen > MOST_STOLEN; tries += 1) {
    const [started, before] = [performance.now(), stolenTime()];
    const figures = await measure();
    const time = (performance.now() - started) * cpus().length;
    const stolen = (stolenTime() - before) / time;
    if (stolen < least.stolen) least = { figures, stolen };
  }
  return least;
}

/** The milliseconds that the host has given to others, over all processors; 0 where the system does not say. */
function stolenTime() {
  try {
    // Linux counts hundredths of a second.
    return Number(readFileSync("/proc/stat", "utf8").split(/\s+/)[8]) * 10;
  } catch {
    return 0;
  }
}

/**
 * Does the work of contenders in turns. The figures are what passed on each clock for a unit of work, after a round that
 * warms up.
 * @param {readonly (Contender | readonly Contender[])[]} contenders
 * @param {number} rounds
 * @param {Samples} [samples]
 */
export async function compareWork(contenders, rounds, samples = createSamples()) {
  await takeTurns(contenders, rounds + 1, async (contender, round) => {
    const { name, work, times, clocks = { time: wallClock }, prepare } = contender;
    prepare?.();
    const before = Object.entries(clocks).map(([figure, now]) => ({ figure, now, start: now() }));
    await work(times);
    /** @type {Record<string, number>} */
    const passed = {};
    for (const { figure, now, start } of before) passed[figure] = (now() - start) / times;
    if (round > 0) samples.add(name, passed);
  });
  return samples;
}

/** Repeats a call that nothing waits for. @param {(index: number) => unknown} call @returns {Work} */
export function repeat(call) {
  return (times) => {
    for (let index = 0; index < times; index += 1) call(index);
  };
}

/**
 * Repeats a call by so many callers, each of which waits for its own.
 * @param {number} callers
 * @param {(index: number) => unknown} call
 * @returns {Work}
 */
export function repeatBy(callers, call) {
  return async (times) => {
    const repeatFrom = async (/** @type {number} */ first) => {
      for (let index = first; index < times; index += callers) await call(index);
    };
    if (callers === 1) await repeatFrom(0);
    else await Promise.all(Array.from({ length: callers }, (_, caller) => repeatFrom(caller)));
  };
}

/** In microseconds, as all clocks. */
export function wallClock() {
  return performance.now() * 1_000;
}

/** Microseconds of processor time of this process. */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
