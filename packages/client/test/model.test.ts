import { setImmediate } from "node:timers/promises";
import { createFetchHandler } from "@petstore/http-adapter";
import { createPetsClient } from "@petstore/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ANY, stock } from "./support/stores.js";
import { seed, sized } from "../../../scripts/test-size.js";

const HISTORIES = sized(4, 1_000, 10_000);
const PER_MINUTE = 60;
const PER_DAY = 1_000;
const MINUTE = 60_000;
const LATENCY = 150;

test(`in ${HISTORIES} histories of clients on one Free key, no key is banned and no call misses a request that was left`, async () => {
  let [calls, served] = [0, 0];
  const property = fc.asyncProperty(fc.gen(), async (generate) => {
    const history = await play((below) => generate(fc.nat, { max: below - 1 }));
    expect(history).toMatchObject({ bans: 0, missed: [] });
    [calls, served] = [calls + history.calls, served + history.served];
  });
  await fc.assert(property, { seed, numRuns: HISTORIES, unbiased: true, endOnFailure: true });
  expect(served).toBeLessThan(calls);
});

/** A call that was refused: when it began, its deadline, and how long its client may have waited without need. */
type Refused = Readonly<{ start: number; deadline: number; backoff: number }>;

/**
 * Any number of calls through up to seven clients, each in a process of its own, in bursts, with any deadlines, on one
 * Free key. `chance` chooses a whole number from 0 to below its argument.
 */
async function play(chance: (below: number) => number) {
  const clock = createSteppedClock(Date.UTC(2030, 0, 1) + chance(1_000));
  const { store, key: apiKey } = await stock({ clock });
  const handle = createFetchHandler(store);
  let bans = 0;
  store.events.on("key_banned", () => (bans += 1));
  const admitted: number[] = [];
  let handling = 0;

  /** Creates a client whose requests and responses take at most `latency` milliseconds, each. */
  const connect = (latency: number) => {
    const travel = () => new Promise<void>((resolve) => clock.startTimer(chance(latency), resolve));
    /** How many 429 the client has received since it was last served. */
    let refusals = 0;
    const fetch = async (request: Request): Promise<Response> => {
      await travel();
      handling += 1;
      const response = await handle(request);
      handling -= 1;
      if (response.status !== 429) admitted.push(clock.now());
      await travel();
      refusals = response.status === 429 ? refusals + 1 : 0;
      return response;
    };
    const random = (size: number) => Uint8Array.from({ length: size }, () => chance(256));
    return {
      ...createPetsClient({ ...ANY, apiKey, fetch, clock, random }),
      refusals: () => refusals,
    };
  };

  const used = chance(4) === 0 ? 800 + chance(200) : 0;
  for (let request = 0; request < used; request += 1) {
    if (request % PER_MINUTE === 0) {
      clock.startTimer(MINUTE, () => undefined);
      clock.step();
    }
    await store.as(apiKey).listPets();
    admitted.push(clock.now());
  }

  const clients = Array.from({ length: 1 + chance(7) }, () => connect(1 + chance(LATENCY)));
  const calls = 1 + chance(300);
  const duration = 1 + chance(300_000);
  let served = 0;
  const refused: Refused[] = [];
  const begin = async (client: ReturnType<typeof connect>): Promise<void> => {
    const start = clock.now();
    const seconds = chance(3) === 0 ? 60 : chance(200_000) / 1_000;
    const outcome = await client.listPets({}, { deadlineSeconds: seconds });
    if (outcome.isOk()) {
      served += 1;
      return;
    }
    const { code } = outcome.error;
    expect(code).toMatch(/^(?:rate_limit_exceeded|timed_out)$/);
    const refusals = client.refusals();
    const backoff = refusals === 0 ? 0 : Math.min(MINUTE, 1_000 * 2 ** (refusals - 1));
    if (code !== "timed_out") refused.push({ start, deadline: start + seconds * 1_000, backoff });
  };
  const begun: Promise<void>[] = [];
  for (let call = 0; call < calls; call += 1) {
    // Every other call is part of a burst.
    const at = chance(2) === 0 ? chance(duration) : Math.floor(duration / (1 + chance(4)));
    const client = clients[chance(clients.length)];
    if (client) clock.startTimer(at, () => begun.push(begin(client)));
  }
  do {
    do await setImmediate();
    while (handling > 0);
  } while (clock.step());
  await Promise.all(begun);
  await store.close();

  const windows = windowsOf(admitted);
  const isUsedUp = admitted.length === PER_DAY;
  const missed = refused.filter((call) => !isUsedUp && couldHaveBeenServed(call, windows));
  return { calls, served, bans, missed };
}

type MinuteWindow = { readonly start: number; used: number };

function windowsOf(admitted: readonly number[]): readonly MinuteWindow[] {
  const windows: MinuteWindow[] = [];
  for (const at of admitted) {
    const last = windows.at(-1);
    if (last !== undefined && at < last.start + MINUTE) last.used += 1;
    else windows.push({ start: at, used: 1 });
  }
  return windows;
}

/** The times of the headers are whole seconds, a wait has a second of chance, and messages take time. */
const SLACK = 3_000 + 4 * LATENCY;

/** Whether a request was left for long enough before the call's deadline, and was not used. */
function couldHaveBeenServed(call: Refused, windows: readonly MinuteWindow[]): boolean {
  const slack = SLACK + call.backoff;
  // The first time from the call's start on that lies outside all full windows, and not just before one.
  let first = call.start;
  for (const { used, start } of windows) {
    const isFull = used === PER_MINUTE;
    if (isFull && start <= first + slack && first < start + MINUTE) first = start + MINUTE;
  }
  return first + slack <= call.deadline;
}

function createSteppedClock(startsAt: number) {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = startsAt;
  return {
    now: () => now,
    startTimer: (milliseconds: number, callback: () => void) => {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    /** Jumps to the next timer and calls it back. Returns false if there is none. */
    step: (): boolean => {
      let [next] = timers;
      for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer;
      if (next === undefined) return false;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.callback();
      return true;
    },
  };
}
