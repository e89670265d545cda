import { expect, it } from "vitest";
import { createMemoryStorage, type PetStoreOptions } from "@petstore/core";
import { codes, DAY, error, MINUTE, openStore, ownLimits, value } from "./support/open-store.js";
import { collect } from "./support/open-store.js";

const LIMITED = ownLimits(3, 1_000_000);
const OK = "ok";
const REFUSED = "rate_limit_exceeded";
const BANNED = "api_key_banned";

// Durations, rows of refusals and what is forgotten are the model's: model.test.ts.
/** Opens a store in which every refusal counts, so that a ban needs no waiting, and bans a key with 7 requests. */
async function openBannable(plan = LIMITED, ban: PetStoreOptions["ban"] = { graceSeconds: 0 }) {
  const opened = openStore({ ban });
  const { id, caller } = await opened.issue(plan);
  return { ...opened, id, caller, ban: () => codes(caller, 7) };
}

it("leaves no tokens, as each view of the key says, and its signal has its own length", async () => {
  const bans = collect("petstore:ban");
  const { store, clock, id, caller, ban, issue } = await openBannable(ownLimits(3, 4));
  await ban();
  const { quota } = error(await caller.admit());
  const { usage } = value(await store.keys.find(id));
  expect(usage).toEqual({ minute: quota.minute, day: quota.day });
  expect(usage.day).toEqual({ limit: 4, remaining: 0, resetAt: clock.now() + MINUTE });
  expect(value(await store.keys.list()).keys[0]?.usage).toEqual(usage);

  const both = (await issue(ownLimits(3, 3))).caller;
  await codes(both, 7);
  expect(error(await both.admit()).quota.window).toBe("day");
  expect(bans).toEqual([1, 2].map(() => ({ plan: "enterprise", milliseconds: MINUTE })));
});

it("doubles with each further one, up to an hour", async () => {
  const { clock, caller, ban } = await openBannable();
  for (const seconds of [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
    await ban();
    const refusal = { code: BANNED, retryAfterSeconds: seconds };
    expect(error(await caller.admit())).toMatchObject(refusal);
    clock.advance((seconds - 1) * 1_000);
    expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 1 });
    clock.advance(1_000);
  }
});

it("names the time at which the key is served again if the day's limit lasts longer than the ban", async () => {
  const { clock, caller } = await openBannable(ownLimits(2, 3));
  const resetAt = clock.now() + DAY;
  await codes(caller, 2);
  clock.advance(MINUTE);
  expect(await codes(caller, 4)).toEqual([OK, REFUSED, REFUSED, BANNED]);
  const minute = { limit: 2, remaining: 0, resetAt };
  const day = { limit: 3, remaining: 0, resetAt };
  expect(error(await caller.admit()).quota).toEqual({ ...day, window: "day", minute, day });
  clock.set(resetAt);
  expect(await codes(caller, 1)).toEqual([OK]);
});

it("is listed and lifted by the host, and is then forgotten with the refusals before it", async () => {
  const { store, clock, id, caller, ban, issue } = await openBannable();
  await issue();
  const banned = async () => value(await store.keys.list({ banned: true })).keys;
  expect(await banned()).toEqual([]);
  await ban();
  expect(await banned()).toMatchObject([{ id, bannedUntil: clock.now() + MINUTE }]);
  expect(value(await store.keys.liftBan(id)).bannedUntil).toBeUndefined();
  expect(await codes(caller, 3)).toEqual([REFUSED, REFUSED, REFUSED]);
  value(await store.keys.liftBan(id));
  expect(await codes(caller, 3)).toEqual([REFUSED, REFUSED, REFUSED]);
  clock.advance(MINUTE);
  await ban();
  clock.advance(MINUTE);
  expect([await banned(), await codes(caller, 1)]).toEqual([[], [OK]]);
});

it("is neither enforced nor counted towards by a host that bans no keys", async () => {
  const storage = createMemoryStorage();
  const { store: strict, issue } = openStore({ storage, ban: { graceSeconds: 0 } });
  const { store: lenient } = openStore({ storage, ban: false });
  const [banned, refused] = [await issue(LIMITED), await issue(LIMITED)];
  await codes(banned.caller, 7);
  expect(await codes(lenient.as(banned.secret), 1)).toEqual([REFUSED]);
  expect(await codes(lenient.as(refused.secret), 50)).not.toContain(BANNED);
  expect(await codes(strict.as(refused.secret), 1)).toEqual([REFUSED]);
});

it("follows the host's own rule", async () => {
  const rule = { graceSeconds: 5, afterRefusals: 1, firstSeconds: 5, forgottenAfterSeconds: 1 };
  const { clock, caller } = await openBannable(LIMITED, rule);
  expect(await codes(caller, 9)).toEqual([OK, OK, OK, ...Array<string>(6).fill(REFUSED)]);
  clock.advance(5_000);
  expect(await codes(caller, 9)).not.toContain(BANNED);
  clock.advance(1);
  expect(await codes(caller, 2)).toEqual([REFUSED, BANNED]);
  expect(error(await caller.admit())).toMatchObject({ retryAfterSeconds: 55 });
  clock.advance(MINUTE);
  expect(value(await caller.admit()).quota.day.remaining).toBe(999_996);
});
