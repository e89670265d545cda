import { createManualClock, createPetStore, type ManualClock, type PetStore } from "@petstore/core";
import type { Place } from "../place.js";
import {
  createReferenceKey,
  type Limits,
  type Moment,
  type ReferenceKey,
} from "./reference-key.js";

/** An engine, which stands for a process. */
export interface Engine {
  readonly store: PetStore;
  /** The latest time that its clock ever showed it. */
  seen: number;
  /** The last time that it showed, and the first one after it was last set back. */
  last: number;
  landed: number;
}

/** A key and its model. */
export interface ModelledKey {
  readonly id: string;
  readonly secrets: string[];
  readonly reference: ReferenceKey;
  /** When requests were admitted, by a clock that is never set. */
  readonly admittedAt: number[];
  /** The highest limits that it ever had. */
  highest: Limits;
}

/** Some engines on one place, with some keys, and the model beside them. */
export interface World {
  readonly place: Place;
  readonly clock: ManualClock;
  readonly engines: Engine[];
  readonly keys: readonly ModelledKey[];
  /** Milliseconds that have really passed, however the clock was set. */
  elapsed: number;
  /** How many requests were made. */
  requests: number;
}

/** What a key is issued with. */
export interface KeyPlan {
  readonly limits: Limits;
  readonly expiresAfter: number | undefined;
}

export async function createWorld(place: Place, plans: readonly KeyPlan[]): Promise<World> {
  const clock = createManualClock();
  const engine = await openEngine(place, clock);
  const keys = await Promise.all(plans.map((plan) => issueKey(engine, plan, clock.now())));
  return { place, clock, engines: [engine], keys, elapsed: 0, requests: 0 };
}

export async function openEngine(place: Place, clock: ManualClock): Promise<Engine> {
  return {
    store: createPetStore({ storage: await place.open(), clock }),
    seen: 0,
    last: 0,
    landed: 0,
  };
}

export async function endWorld({ engines }: World): Promise<void> {
  for (const { store } of engines) (await store.close())._unsafeUnwrap();
}

/** Returns the engine of a command, and its reading of the clock. */
export function engineAt({ engines, clock }: World, index: number): [Engine, Moment] {
  const engine = engines[index % engines.length];
  if (engine === undefined) throw new Error("there is always an engine");
  const now = clock.now();
  look(engine, now);
  return [engine, { now, seen: engine.seen, landed: engine.landed }];
}

function look(engine: Engine, now: number): void {
  if (now < engine.last) engine.landed = now;
  engine.last = now;
  engine.seen = Math.max(engine.seen, now);
}

/** Returns the key of a command. */
export function keyAt({ keys }: World, index: number): ModelledKey {
  const key = keys[index % keys.length];
  if (key === undefined) throw new Error("there is always a key");
  return key;
}

async function issueKey(
  engine: Engine,
  { limits, expiresAfter }: KeyPlan,
  now: number,
): Promise<ModelledKey> {
  look(engine, now);
  const expiresAt = expiresAfter === undefined ? undefined : now + expiresAfter;
  const issued = await engine.store.keys.issue({ plan: "enterprise", limits, expiresAt });
  const { key, secret } = issued._unsafeUnwrap();
  return {
    id: key.id,
    secrets: [secret],
    reference: createReferenceKey(limits, expiresAt ?? Infinity),
    admittedAt: [],
    highest: limits,
  };
}
