import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { expect, it, vi } from "vitest";
import { createManualClock, keyStateAt, type KeyRing } from "@petstore/core";
import { NO_USAGE } from "@petstore/core/storage";
import { createKeyIds } from "../src/keys/key-format.js";
import { codes, DAY, error, LIMIT_FIELDS, MINUTE, openStore } from "./support/open-store.js";
import { ownLimits, value } from "./support/open-store.js";

const ENTERPRISE = ownLimits(5, 10);
const LIMITS = ENTERPRISE.limits;

it("issue returns a secret of the documented form, whose SHA-256 is stored, and the key, which shows its use without being charged", async () => {
  const { store, storage, clock } = openStore();
  const createdAt = clock.now();
  const { secret, key } = value(await store.keys.issue({ plan: "pro", label: "acme" }));
  expect(secret).toMatch(/^pet_live_[0-9A-Za-z]{36}$/);
  const hint = secret.slice(0, 13);
  const usageAfter = (used: number, openedAt: number) => ({
    minute: { limit: 300, remaining: 300 - used, resetAt: openedAt + MINUTE },
    day: { limit: 10_000, remaining: 10_000 - used, resetAt: openedAt + DAY },
  });
  const limits = { perMinute: 300, perDay: 10_000 };
  const unset = { expiresAt: undefined, revokedAt: undefined, bannedUntil: undefined };
  const shown = { id: key.id, hint, plan: "pro", limits, label: "acme", createdAt, ...unset };
  const secrets = [{ hint, expiresAt: undefined }];
  const unused = { lastUsedAt: undefined, usage: usageAfter(0, createdAt) };
  expect(key).toEqual({ ...shown, secrets, ...unused });
  const digest = createHash("sha256").update(secret).digest("base64url");
  const stored = value(await storage.keys.find(key.id))?.key.secrets;
  expect(stored).toEqual([{ digest, hint, expiresAt: undefined }]);

  clock.advance(1_000);
  value(await store.as(secret).admit());
  const lastUsedAt = clock.now();
  clock.advance(10_000);
  const used = { lastUsedAt, usage: usageAfter(1, lastUsedAt) };
  for (const found of [await store.keys.find(key.id), await store.keys.find(key.id)])
    expect(value(found)).toEqual({ ...shown, secrets, ...used });
});

it("issue takes a label of 200 characters, limits up to 2^53−1, which are counted exactly, and a Date", async () => {
  const { store, clock, issue } = openStore();
  const most = Number.MAX_SAFE_INTEGER;
  const more = { ...ownLimits(most, most), label: "x".repeat(200) };
  const expiresAt = clock.now() + 1_000;
  const { id, caller } = await issue({ ...more, expiresAt: new Date(expiresAt) });
  expect(value(await store.keys.find(id))).toMatchObject({ ...more, expiresAt });
  clock.advance(999);
  expect(value(await caller.admit()).quota.remaining).toBe(most - 1);
  clock.advance(1);
  expect(error(await caller.admit()).code).toBe("invalid_api_key");
});

const calls = {
  issue: (keys: KeyRing, _: string, input: unknown) => keys.issue(input as never),
  changePlan: (keys: KeyRing, id: string, input: unknown) => keys.changePlan(id, input as never),
  rotate: (keys: KeyRing, id: string, input: unknown) => keys.rotate(id, input as never),
  purge: (keys: KeyRing, _: string, input: unknown) => keys.purge(input as never),
  list: (keys: KeyRing, _: string, input: unknown) => keys.list(input as never),
};
const free = (more: object) => ({ plan: "free", ...more });
const own = (limits?: unknown) => ({ plan: "enterprise", limits });
const PLANS = "plan must be one of free, pro, business, enterprise";
const OWN = `the enterprise plan needs limits of its own: ${LIMIT_FIELDS}, each a positive integer, and nothing else`;
const LABEL = "label must be text of at most 200 characters";
const EXPIRY = "expiresAt must be a time in the future";
const OVERLAP = "overlapSeconds must be an integer from 0 to 31536000";
const UNKNOWN = "is unknown; known are";
const past = createManualClock().now();

it.each<[keyof typeof calls, string, ...unknown[]]>([
  ["issue", PLANS, {}, { plan: "gold" }],
  [
    "issue",
    OWN,
    ...[undefined, 5, { ...LIMITS, perMinute: 0 }, { ...LIMITS, perDay: 1.5 }].map(own),
    own({ ...LIMITS, perWeek: 1 }),
  ],
  ["issue", "the free plan has fixed limits; leave limits out", free({ limits: LIMITS })],
  ["issue", LABEL, ...["x".repeat(201), [], "a\0"].map((label) => free({ label }))],
  ["issue", EXPIRY, ...[past, 8.64e15 + 1, new Date("x")].map((at) => free({ expiresAt: at }))],
  ["issue", `end ${UNKNOWN} plan, limits, label, expiresAt`, free({ end: 5 })],
  ["issue", `constructor ${UNKNOWN} plan, limits, label, expiresAt`, free({ constructor: 5 })],
  ["issue", "the request must be an object", 5, null],
  ["changePlan", PLANS, { plan: "gold" }],
  ["changePlan", `end ${UNKNOWN} plan, limits`, free({ end: 5 })],
  ["rotate", OVERLAP, ...[-1, 1.5, 31_536_001].map((overlapSeconds) => ({ overlapSeconds }))],
  ["rotate", `end ${UNKNOWN} overlapSeconds`, { end: 30 }],
  ["purge", "olderThanSeconds must be an integer from 0 to 3153600000", { olderThanSeconds: -1 }],
  ["purge", "olderThanSeconds is missing", {}],
  ["purge", `end ${UNKNOWN} olderThanSeconds`, { olderThanSeconds: 5, end: 1 }],
  ["purge", "the request must be an object", undefined],
  ["list", "limit must be an integer from 1 to 1000", { limit: 0 }, { limit: 1_001 }],
  ["list", "after must be a key's id", { after: {} }],
  ["list", "banned must be true or false", { banned: 1 }],
  ["list", `end ${UNKNOWN} limit, after, banned`, { end: 1 }],
  ["list", "the request must be an object", null],
])("%s changes nothing, and says that %s", async (call, problem, ...inputs) => {
  const { store, issue } = openStore();
  const { id, caller } = await issue();
  for (const input of inputs) {
    const refusal = error<unknown, unknown>(await calls[call](store.keys, id, input));
    const expected = { code: "invalid_key_request", message: `${problem}.` };
    expect(refusal, inspect(input)).toEqual(expected);
  }
  value(await caller.admit());
  expect(value(await store.keys.list()).keys).toMatchObject([{ id, plan: "free" }]);
});

const only = (byte: number) => (size: number) => new Uint8Array(size).fill(byte);
const WRONG = "The random source must return a Uint8Array of 30 bytes.";
it.each<[string, string, (size: number) => Uint8Array]>([
  ["throws", "no randomness", () => expect.fail("no randomness")],
  ["gives too much", WRONG, () => new Uint8Array(64)],
  ["gives no bytes", WRONG, (size) => Array.from({ length: size }, Math.random) as never],
  ["favours some characters", "The random source returns no random bytes.", only(255)],
  ["repeats itself", "This digest is taken.", only(7)],
])("a source that later %s makes issuing fail, and changes nothing", async (_, message, later) => {
  let random: (size: number) => Uint8Array = only(7);
  const { store, issue } = openStore({ random: (size) => random(size) });
  const { id, caller } = await issue();
  random = later;
  const failed = error(await store.keys.issue({ plan: "pro" }));
  expect(failed.code).toBe("storage_unavailable");
  expect(JSON.stringify(failed, ["cause", "message"])).toContain(message);
  expect(value(await caller.admit()).keyId).toBe(id);
  expect(value(await store.keys.list()).keys).toHaveLength(1);
});

it("a random source favours no character", async () => {
  let at = 0;
  // Returns each byte once in 256, in an order in which any 30 in a row are spread evenly.
  const random = (size: number) => Uint8Array.from({ length: size }, () => (at++ * 37) % 256);
  const counts = new Map<string, number>();
  for (let key = 0; key < 310; key += 1) {
    // Each key has its own store: the source repeats itself, and a store refuses a repeated secret.
    const { secret } = await openStore({ random, maxAnonymousClients: 1 }).issue();
    for (const character of secret.slice(9, 39))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(Math.max(...counts.values()) / Math.min(...counts.values())).toBeLessThan(1.1);
});

it("revoke refuses the key with the next call, for good, says when, and is written once", async () => {
  const { store, storage, clock, issue } = openStore();
  const { id, caller } = await issue();
  value(await caller.admit());
  const revokedAt = clock.now();
  expect(value(await store.keys.revoke(id)).revokedAt).toBe(revokedAt);
  expect(error(await caller.admit()).code).toBe("invalid_api_key");
  clock.advance(MINUTE);
  const update = vi.spyOn(storage.keys, "update");
  expect(value(await store.keys.revoke(id)).revokedAt).toBe(revokedAt);
  const stored = value(await storage.keys.find(id))?.key;
  // A storage writes only what is another object.
  expect(update.mock.lastCall?.[1](stored).next).toBe(stored);
  expect(value(await store.keys.find(id)).revokedAt).toBe(revokedAt);
});

it("rotate lets old and new secret share one quota during the overlap, which no later one extends, and without one it ends the old at once", async () => {
  const { store, clock, issue } = openStore();
  const { id, caller } = await issue(ENTERPRISE);
  value(await caller.admit());
  const rotated = store.as(value(await store.keys.rotate(id, { overlapSeconds: 30 })).secret);
  expect(value(await rotated.admit()).quota.remaining).toBe(3);
  expect(value(await caller.admit()).quota.remaining).toBe(2);
  value(await store.keys.rotate(id, { overlapSeconds: 1_000 }));
  clock.advance(30_000);
  expect(error(await caller.admit()).code).toBe("invalid_api_key");
  value(await rotated.admit());
  const { key, secret } = value(await store.keys.rotate(id));
  const hint = secret.slice(0, 13);
  expect(key).toMatchObject({ id, hint, secrets: [{ hint }] });
  expect(error(await rotated.admit()).code).toBe("invalid_api_key");
  value(await store.as(secret).admit());
});

it("endSecret ends one secret at once, the newest or an older one, but not the last valid one", async () => {
  const { store, clock, issue } = openStore();
  const { id, secret } = await issue();
  const rotate = async () => value(await store.keys.rotate(id, { overlapSeconds: 30 })).secret;
  const secrets = [secret, await rotate(), await rotate()];
  const [first = "", second = "", third = ""] = secrets.map((each) => each.slice(0, 13));
  const ended: unknown[] = [];
  store.events.on("secret_ended", ({ key }) => ended.push(key.secrets.length));
  for (const hint of [third, first]) value(await store.keys.endSecret(id, hint));
  const rest = keyStateAt(value(await store.keys.find(id)), clock.now()).secrets;
  expect(rest).toEqual([{ hint: second, name: "replaced", at: clock.now() + 30_000 }]);
  clock.advance(-60_000);
  const outcomes = await Promise.all(secrets.map((each) => codes(store.as(each), 1)));
  expect(outcomes.flat()).toEqual(["invalid_api_key", "ok", "invalid_api_key"]);
  expect(error(await store.keys.endSecret(id, first)).code).toBe("key_not_found");
  expect(error(await store.keys.endSecret(id, second)).code).toBe("invalid_key_request");
  const newest = (await rotate()).slice(0, 13);
  clock.advance(DAY);
  expect(error(await store.keys.endSecret(id, newest)).code).toBe("invalid_key_request");
  value(await store.keys.revoke(id));
  expect(error(await store.keys.endSecret(id, second)).code).toBe("key_inactive");
  expect(error(await store.keys.endSecret("key_x", second)).code).toBe("key_not_found");
  await vi.waitFor(() => expect(ended).toEqual([2, 1]));
});

it("rotate keeps at most eight secrets, for up to a year, and ends the oldest", async () => {
  const { store, clock, issue } = openStore();
  const { id, secret } = await issue();
  const secrets = [secret];
  for (let rotation = 0; rotation < 9; rotation += 1)
    secrets.push(value(await store.keys.rotate(id, { overlapSeconds: 31_536_000 })).secret);
  clock.advance(31_536_000_000 - 1);
  const outcomes = await Promise.all(secrets.map((each) => store.as(each).admit()));
  expect(outcomes.map((outcome) => outcome.isOk())).toEqual(secrets.map((_, index) => index >= 2));
});

it.each([
  [10, 0, false, "active", undefined, "current 100, replaced 10"],
  [10, 10, false, "active", undefined, "current 100, refused 10"],
  [900, 99, false, "active", undefined, "current 100, replaced 100"],
  [900, 100, false, "expired", 100, "refused 100, refused 100"],
  [900, 50, true, "revoked", 50, "refused 50, refused 50"],
  [10, 50, true, "revoked", 50, "refused 50, refused 10"],
  [900, 150, true, "revoked", 150, "refused 100, refused 100"],
] as const)("with %i s of overlap, its state after %i s is what calls see", async (...row) => {
  const [overlapSeconds, after, isRevoked, name, at, ends] = row;
  const { store, clock, issue } = openStore();
  const start = clock.now();
  const { id, secret } = await issue({ plan: "free", expiresAt: start + 100_000 });
  const rotated = value(await store.keys.rotate(id, { overlapSeconds }));
  clock.advance(after * 1_000);
  if (isRevoked) value(await store.keys.revoke(id));
  const state = keyStateAt(value(await store.keys.find(id)), clock.now());
  const inSeconds = (time = NaN) => (time - start) / 1_000;
  expect([state.name, inSeconds(state.at)]).toEqual([name, at ?? NaN]);
  const shown = state.secrets.map((each) => `${each.name} ${inSeconds(each.at)}`);
  expect(shown.join(", ")).toBe(ends);
  for (const [index, each] of [rotated.secret, secret].entries())
    expect(state.secrets[index]?.name === "refused").toBe(!(await store.as(each).admit()).isOk());
  const again = await store.keys.rotate(id);
  expect(again.isOk() ? name : again.error.code).toBe(name === "active" ? name : "key_inactive");
});

it("purge removes any number of keys, wherever they are in the list, and lets other work run in between", async () => {
  const { store, storage, clock, issue } = openStore();
  const { id } = await issue({ plan: "free", expiresAt: clock.now() + 1 });
  const key = value(await storage.keys.find(id))?.key ?? expect.unreachable();
  const [keys, kept] = [20_000, [] as string[]];
  for (let count = 1; count < keys; count += 1) {
    const added = { ...key, id: `${id}${count}`, secrets: [] };
    const isKept = count % 1_003 === 0;
    if (isKept) kept.push(added.id);
    value(await storage.keys.insert({ ...added, ...(isKept && { expiresAt: undefined }) }));
  }
  clock.advance(2);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const purged = keys - kept.length;
  expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged });
  clearInterval(timer);
  const left = value(await store.keys.list()).keys.map(({ id }) => id);
  expect(left.toSorted()).toEqual(kept.toSorted());
  expect(turns).toBeGreaterThan(5);
});

it("purge removes exactly the keys that were revoked or expired longer ago, with their usage", async () => {
  const { store, storage, clock, issue } = openStore();
  const old = await issue();
  const expired = await issue({ plan: "free", expiresAt: clock.now() + 1_000 });
  const recent = await issue();
  const live = await issue({ plan: "free", expiresAt: clock.now() + 365 * DAY });
  value(await old.caller.admit());
  const stored = value(await storage.keys.find(old.id));
  expect(stored?.usage).not.toEqual(NO_USAGE);
  value(await store.keys.revoke(old.id));
  clock.advance(1_000);
  value(await store.keys.revoke(recent.id));
  clock.advance(1);
  value(await store.keys.revoke(expired.id));
  clock.advance(-1);

  clock.advance(90 * DAY);
  expect(value(await store.keys.purge({ olderThanSeconds: 90 * 86_400 }))).toEqual({ purged: 1 });
  expect(error(await store.keys.find(old.id)).code).toBe("key_not_found");
  expect(error(await old.caller.admit()).code).toBe("invalid_api_key");
  const ids = value(await store.keys.list()).keys.map(({ id }) => id);
  expect(ids).toEqual([expired.id, recent.id, live.id]);

  clock.advance(1);
  expect(value(await store.keys.purge({ olderThanSeconds: 90 * 86_400 }))).toEqual({ purged: 2 });
  expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 0 });
  value(await live.caller.admit());
  if (stored) value(await storage.keys.insert(stored.key));
  expect(value(await storage.keys.find(old.id))).toEqual({ ...stored, usage: NO_USAGE });
});

it("list has every key in the order of issue, also of two processes, whichever way the clock moves, a page at a time; 100 by default", async () => {
  const { store, storage, clock, issue } = openStore();
  const other = openStore({ storage, clock });
  const ids: string[] = [];
  for (let index = 0; index < 99; index += 1) {
    ids.push((await issue()).id);
    clock.advance((index % 4) - 1);
  }
  for (const each of [other.issue, issue]) {
    clock.advance(1_000);
    ids.push((await each()).id);
  }
  expect([...new Set(ids)].toSorted()).toEqual(ids);
  const first = value(await store.keys.list({ limit: 60 }));
  const second = value(await store.keys.list({ limit: 60, after: first.next }));
  expect([...first.keys, ...second.keys].map(({ id }) => id)).toEqual(ids);
  expect([first.keys.length, second.next]).toEqual([60, undefined]);
  expect(value(await store.keys.list({ limit: 101 })).next).toBeUndefined();
  expect(value(await store.keys.list()).keys).toHaveLength(100);
  expect(value(await store.keys.list({ limit: 1_000 })).keys).toHaveLength(101);
});

it("ids are in the order of issue, however many are made in a millisecond", () => {
  const newKeyId = createKeyIds((size) => new Uint8Array(size));
  const ids = Array.from({ length: 62 ** 3 + 1 }, () => newKeyId(1));
  expect(ids.slice(-3)).toEqual([...new Set(ids.slice(-3))].toSorted());
});

it("findBySecret finds a key by each of its secrets, as long as it is stored, without charging it", async () => {
  const { store, clock, issue } = openStore();
  await issue();
  const { id, secret } = await issue();
  const rotated = value(await store.keys.rotate(id, { overlapSeconds: 5 }));
  const expiresAt = clock.now() + 5_000;
  clock.advance(10_000);
  value(await store.keys.revoke(id));
  for (const each of [secret, rotated.secret]) {
    const found = value(await store.keys.findBySecret(each));
    expect(found).toEqual(value(await store.keys.find(id)));
    expect(found.secrets).toEqual([
      { hint: rotated.secret.slice(0, 13), expiresAt: undefined },
      { hint: secret.slice(0, 13), expiresAt },
    ]);
    expect(found.lastUsedAt).toBeUndefined();
  }
  for (const other of [(await openStore().issue()).secret, "pet_live_", {} as never])
    expect(error(await store.keys.findBySecret(other)).code).toBe("key_not_found");
});

it("every operation returns key_not_found for an unknown id", async () => {
  const { keys } = openStore().store;
  const results = await Promise.all([
    ...[keys.find("key_x"), keys.revoke("key_x"), keys.liftBan("key_x")],
    ...[keys.rotate("key_x"), keys.changePlan("key_x", { plan: "pro" })],
  ]);
  for (const result of results)
    expect(error<unknown, unknown>(result)).toMatchObject({ code: "key_not_found" });
});
