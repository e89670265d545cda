import { setImmediate } from "node:timers/promises";
import { createPetStore, type PetStore } from "@petstore/core";
import { createFetchHandler } from "@petstore/http-adapter";
import { createPetsClient, type ClientClock, type PetsClient } from "@petstore/client";

/** Returns whole numbers from 0 to below `below`, always the same for one seed (xorshift). */
export function createChance(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** A clock that jumps from timer to timer. */
export interface SteppedClock extends ClientClock {
  /** Jumps to the next timer and calls it back. Returns false if there is none. */
  step(): boolean;
}

export function createSteppedClock(startsAt: number): SteppedClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = startsAt;
  return {
    now: () => now,
    startTimer: (milliseconds, callback) => {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    step: () => {
      let next: { readonly at: number; readonly callback: () => void } | undefined;
      for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer;
      if (next === undefined) return false;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.callback();
      return true;
    },
  };
}

/** A store with one Free key, and clients of it in processes of their own, on one clock. */
export interface World {
  readonly store: PetStore;
  readonly clock: SteppedClock;
  readonly keyId: string;
  readonly secret: string;
  /** When the store admitted requests. */
  readonly admitted: number[];
  /** Creates a client whose requests and responses take at most `latency` milliseconds, each. */
  connect(latency: number): Connected;
  /** Runs until nothing is left to happen. */
  run(): Promise<void>;
}

export interface Connected {
  readonly client: PetsClient;
  /** How many 429 the client has received since it was last served. */
  readonly refusals: () => number;
}

export async function createWorld(chance: (below: number) => number): Promise<World> {
  const clock = createSteppedClock(Date.UTC(2030, 0, 1) + chance(1_000));
  const store = createPetStore({ clock });
  const { key, secret } = (await store.keys.issue({ plan: "free" }))._unsafeUnwrap();
  const handle = createFetchHandler(store);
  const admitted: number[] = [];
  let handling = 0;
  const after = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => clock.startTimer(milliseconds, resolve));

  return {
    ...{ store, clock, keyId: key.id, secret, admitted },
    connect: (latency) => {
      let refusals = 0;
      const fetch = async (request: Request): Promise<Response> => {
        await after(chance(latency));
        handling += 1;
        const response = await handle(request);
        handling -= 1;
        if (response.status !== 429) admitted.push(clock.now());
        await after(chance(latency));
        refusals = response.status === 429 ? refusals + 1 : 0;
        return response;
      };
      const random = (size: number): Uint8Array =>
        Uint8Array.from({ length: size }, () => chance(256));
      const client = createPetsClient({ apiKey: secret, fetch, clock, random });
      return { client, refusals: () => refusals };
    },
    run: async () => {
      const settle = async (): Promise<void> => {
        do await setImmediate();
        while (handling > 0);
      };
      await settle();
      while (clock.step()) await settle();
    },
  };
}
