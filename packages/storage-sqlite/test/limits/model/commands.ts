import fc from "fast-check";
import { expect } from "vitest";
import { look, rotate, type Limits } from "./reference-key.js";
import { request, requestAtOnce, type RequestInput } from "./request.js";
import { engineAt, keyAt, openEngine, type World } from "./world.js";

/** One thing that happens, to the engine and to the model. */
export type Happening = fc.AsyncCommand<object, World>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const index = fc.nat({ max: 5 });
const input: fc.Arbitrary<RequestInput> = fc.record({
  engine: index,
  key: fc.nat({ max: 1 }),
  age: fc.constantFrom(0, 0, 0, 1, 2),
});
const passing = fc.oneof(
  fc.constantFrom(1, SECOND, SECOND + 1, 30 * SECOND, MINUTE - 1, MINUTE, MINUTE + 1, 2 * MINUTE),
  fc.constantFrom(HOUR, DAY - MINUTE, DAY - 1, DAY, DAY + HOUR, 10 * YEAR),
  fc.nat({ max: 2 * MINUTE }),
);

/** Limits small enough to be used up within a few calls. */
export const smallLimits: fc.Arbitrary<Limits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});

/** All commands on keys; frequent ones are more likely. */
export const happenings: readonly fc.Arbitrary<Happening>[] = [
  ...several(4, input.map(call)),
  ...several(3, passing.map(advance)),
  fc.constantFrom(SECOND, 5 * SECOND, MINUTE, HOUR, YEAR).map(stepBack),
  fc.tuple(input, fc.integer({ min: 2, max: 8 })).map(callAtOnce),
  fc.tuple(input, index).map(waitForRetryAfter),
  input.map(hammer),
  fc.tuple(input, fc.constantFrom(0, 1, 30, 3_600)).map(rotateKey),
  fc.tuple(input, smallLimits).map(changePlan),
  input.map(liftBan),
  index.map(restart),
  fc.constant(openAnother()),
  fc.oneof(
    { weight: 4, arbitrary: input.map(lookAt) },
    { weight: 1, arbitrary: input.map(revoke) },
  ),
];

function call(who: RequestInput): Happening {
  return happening(`call ${text(who)}`, async (world) => {
    await request(world, who);
  });
}

function callAtOnce([who, count]: [RequestInput, number]): Happening {
  return happening(`${String(count)} calls at once ${text(who)}`, (world) =>
    requestAtOnce(world, who, count),
  );
}

function advance(milliseconds: number): Happening {
  return happening(`${String(milliseconds)} ms pass`, (world) => {
    pass(world, milliseconds);
  });
}

function pass(world: World, milliseconds: number): void {
  world.clock.advance(milliseconds);
  world.elapsed += milliseconds;
}

function stepBack(milliseconds: number): Happening {
  return happening(`the clock is set back by ${String(milliseconds)} ms`, ({ clock }) => {
    if (clock.now() > 20 * YEAR) clock.advance(-milliseconds);
  });
}

/** A client that waits exactly `Retry-After` is served, by whichever process. */
function waitForRetryAfter([who, other]: [RequestInput, number]): Happening {
  return happening(`call and wait for Retry-After ${text(who)}`, async (world) => {
    const outcome = await request(world, who);
    if (!("retryAfterSeconds" in outcome)) return;
    pass(world, outcome.retryAfterSeconds * SECOND);
    const again = await request(world, { ...who, engine: other });
    expect(["ok", "invalid_api_key"]).toContain(again.code);
  });
}

function hammer(who: RequestInput): Happening {
  return happening(`hammer until banned ${text(who)}`, async (world) => {
    const { reference } = keyAt(world, who.key);
    const newest = { ...who, age: 0 };
    for (let left = 4 * reference.limits.perMinute + 8; left > 0; left -= 1) {
      const counted = reference.refusals;
      const { code } = await request(world, newest);
      if (code === "api_key_banned" || code === "invalid_api_key") return;
      if (code === "rate_limit_exceeded" && reference.refusals === counted) pass(world, SECOND + 1);
    }
    expect.unreachable("the key was never banned");
  });
}

function rotateKey([who, overlapSeconds]: [RequestInput, number]): Happening {
  return happening(`rotate ${text(who)} with ${String(overlapSeconds)} s`, async (world) => {
    const [{ store }, { now }] = engineAt(world, who.engine);
    const key = keyAt(world, who.key);
    const rotated = await store.keys.rotate(key.id, { overlapSeconds });
    expect(rotated.isOk()).toBe(rotate(key.reference, overlapSeconds * SECOND, now));
    rotated.map(({ secret }) => key.secrets.push(secret));
  });
}

function changePlan([who, limits]: [RequestInput, Limits]): Happening {
  return happening(`change plan ${text(who)} to ${text(limits)}`, async (world) => {
    const [{ store }] = engineAt(world, who.engine);
    const key = keyAt(world, who.key);
    (await store.keys.changePlan(key.id, { plan: "enterprise", limits }))._unsafeUnwrap();
    key.reference.limits = limits;
    key.highest = {
      perMinute: Math.max(key.highest.perMinute, limits.perMinute),
      perDay: Math.max(key.highest.perDay, limits.perDay),
    };
  });
}

function liftBan(who: RequestInput): Happening {
  return happening(`lift the ban ${text(who)}`, async (world) => {
    const [{ store }] = engineAt(world, who.engine);
    const key = keyAt(world, who.key);
    const lifted = (await store.keys.liftBan(key.id))._unsafeUnwrap();
    expect(lifted.bannedUntil).toBeUndefined();
    Object.assign(key.reference, { bans: 0, bannedAt: 0, refusedSince: 0, refusals: 0 });
  });
}

function lookAt(who: RequestInput): Happening {
  return happening(`look at ${text(who)}`, async (world) => {
    const [{ store }, moment] = engineAt(world, who.engine);
    const { id, reference } = keyAt(world, who.key);
    const expected = look(reference, moment);
    const found = (await store.keys.find(id))._unsafeUnwrap();
    expect(found).toMatchObject(expected);
    expect(found.usage).toEqual(expected.usage);
    const query = { banned: true, after: id.slice(0, -1), limit: 1 };
    const { keys } = (await store.keys.list(query))._unsafeUnwrap();
    const isBanned = expected.bannedUntil !== undefined;
    expect(keys.some((each) => each.id === id)).toBe(isBanned);
  });
}

function revoke(who: RequestInput): Happening {
  return happening(`revoke ${text(who)}`, async (world) => {
    const [{ store }] = engineAt(world, who.engine);
    const { id, reference } = keyAt(world, who.key);
    (await store.keys.revoke(id))._unsafeUnwrap();
    reference.revoked = true;
  });
}

function restart(which: number): Happening {
  return happening(`restart engine ${String(which)}`, async (world) => {
    const at = which % world.engines.length;
    (await world.engines[at]?.store.close())?._unsafeUnwrap();
    world.engines[at] = await openEngine(world.place, world.clock);
  });
}

function openAnother(): Happening {
  return happening("open another engine", async (world) => {
    if (world.engines.length < 3) world.engines.push(await openEngine(world.place, world.clock));
  });
}

function happening(name: string, run: (world: World) => void | Promise<void>): Happening {
  return {
    check: () => true,
    run: async (_, world) => run(world),
    toString: () => name,
  };
}

function several<T>(count: number, each: T): readonly T[] {
  return Array.from({ length: count }, () => each);
}

function text(value: object): string {
  return JSON.stringify(value);
}
