import { median } from "../report/median.js";
import { KEYS } from "./contenders.js";

/** @import { Contender } from "./contenders.js" */

export const CALLERS = 32;
const SAMPLE_NANOSECONDS = 40e6;

/**
 * Nanoseconds that a call takes: by one caller that waits for each result, and by 32 of them at a time.
 * All contenders take turns, and another one comes first in each round, so that what slows the machine
 * slows all of them. The samples of all of them last equally long.
 * @param {readonly Contender[]} contenders
 * @param {number} rounds
 */
export async function measure(contenders, rounds) {
  const courses = contenders.flatMap((contender) =>
    [1, CALLERS].map((callers) => ({
      contender,
      callers,
      calls: 0,
      samples: /** @type {number[]} */ ([]),
    })),
  );
  for (const course of courses) course.calls = await calibrate(course.contender, course.callers);
  for (let round = 0; round < rounds; round += 1) {
    const first = round % courses.length;
    for (const course of [...courses.slice(first), ...courses.slice(0, first)]) {
      course.samples.push(await sample(course.contender, course.callers, course.calls));
    }
  }
  const cost = (/** @type {Contender} */ contender, /** @type {number} */ callers) =>
    median(
      courses.find((each) => each.contender === contender && each.callers === callers)?.samples ??
        [],
    );
  return contenders.map((contender) => ({
    contender,
    alone: cost(contender, 1),
    together: cost(contender, CALLERS),
  }));
}

/**
 * How many calls fill a sample, found while warming up.
 * @param {Contender} contender
 * @param {number} callers
 */
async function calibrate(contender, callers) {
  let calls = 1_000;
  for (let warmUp = 0; warmUp < 6; warmUp += 1) {
    const each = await sample(contender, callers, calls);
    calls = Math.max(1_000, Math.ceil(SAMPLE_NANOSECONDS / each));
  }
  return calls;
}

/**
 * @param {Contender} contender
 * @param {number} callers
 * @param {number} calls
 */
async function sample({ admit }, callers, calls) {
  const share = Math.ceil(calls / callers);
  const work = async (/** @type {number} */ caller) => {
    for (let call = 0; call < share; call += 1) await admit((caller + call) % KEYS);
  };
  const start = process.hrtime.bigint();
  if (callers === 1) await work(0);
  else await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  return Number(process.hrtime.bigint() - start) / (share * callers);
}
