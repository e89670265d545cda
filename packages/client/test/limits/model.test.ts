import { expect, test } from "vitest";
import { seed, sized } from "../../../../scripts/test-size.js";
import { createChance, createWorld, type World } from "./world.js";

const HISTORIES = sized(4, 1_000, 10_000);
const PER_MINUTE = 60;
const PER_DAY = 1_000;
const MINUTE = 60_000;
const LATENCY = 150;

/** A call that was refused: when it began, its deadline, and how long its client may have waited without need. */
interface Refused {
  readonly start: number;
  readonly deadline: number;
  readonly backoff: number;
}

interface History {
  readonly calls: number;
  readonly served: number;
  readonly bans: number;
  readonly missed: readonly Refused[];
}

/** Any number of calls through up to seven clients, in bursts, with any deadlines, on one Free key. */
async function play(number: number): Promise<History> {
  const chance = createChance(number);
  const world = await createWorld(chance);
  const { clock, store, keyId } = world;
  const bans: unknown[] = [];
  store.events.on("key_banned", (ban) => bans.push(ban));
  if (chance(4) === 0) await useUpMostOfTheDay(world, 800 + chance(200));

  const clients = Array.from({ length: 1 + chance(7) }, () => world.connect(1 + chance(LATENCY)));
  const calls = 1 + chance(300);
  const duration = 1 + chance(300_000);
  let served = 0;
  const refused: Refused[] = [];
  const codes = new Set<string>();
  const begin = async ({ client, refusals }: (typeof clients)[number]): Promise<void> => {
    const start = clock.now();
    const seconds = chance(3) === 0 ? 60 : chance(200_000) / 1_000;
    const outcome = await client.listPets({}, { deadlineSeconds: seconds });
    if (outcome.isOk()) {
      served += 1;
      return;
    }
    codes.add(outcome.error.code);
    const backoff = refusals() === 0 ? 0 : Math.min(MINUTE, 1_000 * 2 ** (refusals() - 1));
    if (outcome.error.code !== "timed_out")
      refused.push({ start, deadline: start + seconds * 1_000, backoff });
  };
  for (let call = 0; call < calls; call += 1) {
    const client = clients[chance(clients.length)];
    // Every other call is part of a burst.
    const at = chance(2) === 0 ? chance(duration) : Math.floor(duration / (1 + chance(4)));
    if (client !== undefined) clock.startTimer(at, () => void begin(client));
  }
  await world.run();
  expect(
    [...codes].filter((code) => code !== "rate_limit_exceeded" && code !== "timed_out"),
  ).toEqual([]);

  const windows = windowsOf(world.admitted);
  const key = (await store.keys.find(keyId))._unsafeUnwrap();
  const missed = refused.filter((call) =>
    couldHaveBeenServed(call, windows, world.admitted.length),
  );
  return { calls, served, bans: bans.length + (key.bannedUntil === undefined ? 0 : 1), missed };
}

async function useUpMostOfTheDay({ store, secret, clock, admitted }: World, count: number) {
  for (let used = 0; used < count; used += 1) {
    if (used % PER_MINUTE === 0) {
      clock.startTimer(MINUTE, () => undefined);
      clock.step();
    }
    await store.as(secret).listPets();
    admitted.push(clock.now());
  }
}

interface MinuteWindow {
  readonly start: number;
  used: number;
}

/** The minute windows that these requests opened, and how much of each was used. */
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
function couldHaveBeenServed(
  call: Refused,
  windows: readonly MinuteWindow[],
  used: number,
): boolean {
  if (used === PER_DAY) return false;
  const slack = SLACK + call.backoff;
  // The first time from the call's start on that lies outside all full windows, and not just before one.
  let first = call.start;
  for (const window of windows) {
    const { start } = window;
    const isFull = window.used === PER_MINUTE;
    if (isFull && start <= first + slack && first < start + MINUTE) first = start + MINUTE;
  }
  return first + slack <= call.deadline;
}

test(`in ${HISTORIES} histories of clients on one Free key, no key is banned and no call misses a request that was left`, async () => {
  let [calls, served] = [0, 0];
  for (let number = 0; number < HISTORIES; number += 1) {
    const history = await play(seed * 100_000 + number);
    expect(history, `history ${number} of seed ${seed}`).toMatchObject({ bans: 0, missed: [] });
    calls += history.calls;
    served += history.served;
  }
  console.info(`${HISTORIES} histories, ${calls} calls, ${served} served`);
  expect(served).toBeLessThan(calls);
});
