import { expect, test } from "vitest";
import { afterEnding, afterSending, isOpen, OPEN, type Ended, type Gate } from "../src/gate.js";

const NOW = 1_000_000;
type Event = "sent" | Ended;

const ended = (number: number, remaining: number, resetAt = 1): Ended => ({
  number,
  quota: { limit: 60, remaining, resetAt },
  resetIn: 30_000,
  wait: undefined,
});
const refused = (number: number, retryAfter: number, jitter = 0): Ended => ({
  ...{ ...ended(number, 0), resetIn: 0, wait: { retryAfter, jitter } },
});
/** A 429 of a server that still has requests left, such as one that is overloaded. */
const refusedEarly = (number: number): Ended => ({
  ...ended(number, 5),
  wait: { retryAfter: 0, jitter: 0 },
});
const dayUsedUp = (number: number): Ended => ({ ...ended(number, 0), resetIn: 86_400_000 });
const lost = (number: number): Ended => ({ ...ended(number, 0), quota: undefined });

function free(gate: Gate, now: number): number {
  let count = 0;
  for (let next = gate; isOpen(next, 8, now); next = afterSending(next)) count += 1;
  return count;
}

const refusedInARow = (count: number): readonly Event[] =>
  Array.from({ length: count }, (_, n): Event[] => ["sent", refused(n + 1, 0)]).flat();

const otherLimit: Ended = { ...ended(2, 0), quota: { limit: 9, remaining: 7, resetAt: 1 } };

test.each<readonly [string, readonly Event[], number, number]>([
  ["a new gate lets one request go alone", [], 0, 1],
  ["the first request has not ended", ["sent"], 0, 0],
  ["the first request was lost", ["sent", lost(1)], 0, 1],
  ["3 remain, and 2 are in flight", ["sent", "sent", "sent", ended(1, 3)], 0, 1],
  ["a response of the same window overtook", ["sent", "sent", ended(2, 3), ended(1, 4)], 0, 3],
  ["a response of the next window overtook", ["sent", "sent", ended(2, 59, 2), ended(1, 2)], 0, 8],
  ["the fewest that remain in a window count", ["sent", "sent", ended(1, 3), ended(2, 4)], 0, 3],
  ["another limit is another window", ["sent", "sent", ended(1, 3), otherLimit], 0, 7],
  ["nothing remains", ["sent", ended(1, 0)], 29_999, 0],
  ["nothing remained, and the window has ended", ["sent", ended(1, 0)], 30_000, 1],
  ["in the next window, 59 remain", ["sent", ended(1, 0), "sent", ended(2, 59, 2)], 30_000, 8],
  ["a day is used up", ["sent", dayUsedUp(1)], 3_599_999, 0],
  ["a day is used up: after an hour, one asks", ["sent", dayUsedUp(1)], 3_600_000, 1],
  ["a 429 for a day", ["sent", refused(1, 86_400_000)], 28_799_999, 0],
  ["a 429 for a day: after 8 h, one asks", ["sent", refused(1, 86_400_000)], 28_800_000, 1],
  ["a 429 is over", ["sent", refused(1, 5_000)], 4_999, 0],
  ["a 429 is over: a probe goes first", ["sent", refused(1, 5_000)], 5_000, 1],
  ["a 429 without Retry-After", ["sent", refused(1, 0)], 999, 0],
  ["a 429 has jitter", ["sent", refused(1, 5_000, 400)], 5_399, 0],
  ["429s of one burst count as one", ["sent", "sent", refused(1, 0), refused(2, 0)], 1_000, 1],
  ["the fourth 429 in a row", refusedInARow(4), 7_999, 0],
  ["the tenth 429 in a row waits a minute", refusedInARow(10), 60_000, 1],
  ["a served probe ends the row", ["sent", refused(1, 0), "sent", ended(2, 59, 2)], 1_000, 8],
  ["a 429 is over, and 5 remain: a probe goes first", ["sent", refusedEarly(1)], 1_000, 1],
  ["a lost probe does not end the row", ["sent", refusedEarly(1), "sent", lost(2)], 1_000, 1],
  ["an earlier response does not", ["sent", "sent", refusedEarly(2), ended(1, 5)], 1_000, 1],
])("%s", (_, events, later, expected) => {
  let gate = OPEN;
  for (const event of events)
    gate = event === "sent" ? afterSending(gate) : afterEnding(gate, event, NOW);
  expect(free(gate, NOW + later)).toBe(expected);
});
