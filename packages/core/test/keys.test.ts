import { describe, expect, it } from "vitest";
import { createManualClock, createMemoryStorage } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

const MINUTE = 60_000;
const LIMITS = { perMinute: 5, perDay: 10 };

const PLANS = "must be one of free, pro, business, enterprise";
const LIMITS_NEEDED =
  "the enterprise plan needs limits of its own: perMinute and perDay, each a positive integer";
const LABEL = "label must be text of at most 200 characters";
const EXPIRY = "expiresAt must be a time in the future";

describe("issue", () => {
  it("returns a secret of the documented form, and the key", async () => {
    const { store, clock } = openStore();
    const { secret, key } = value(await store.keys.issue({ plan: "pro", label: "acme" }));
    expect(secret).toMatch(/^pet_live_[0-9A-Za-z]{36}$/);
    expect(key).toEqual({
      id: key.id,
      hint: secret.slice(0, 13),
      secrets: [{ hint: secret.slice(0, 13), expiresAt: undefined }],
      plan: "pro",
      limits: { perMinute: 300, perDay: 10_000 },
      label: "acme",
      createdAt: clock.now(),
      expiresAt: undefined,
      revokedAt: undefined,
      lastUsedAt: undefined,
      bannedUntil: undefined,
      usage: {
        minute: { limit: 300, remaining: 300, resetAt: clock.now() + MINUTE },
        day: { limit: 10_000, remaining: 10_000, resetAt: clock.now() + 1_440 * MINUTE },
      },
    });
  });

  it.each([
    ["no plan", {}, `plan ${PLANS}`],
    ["an unknown plan", { plan: "gold" }, `plan ${PLANS}`],
    ["enterprise without limits", { plan: "enterprise" }, LIMITS_NEEDED],
    ["limits that are no object", { plan: "enterprise", limits: 5 }, LIMITS_NEEDED],
    [
      "limits on a fixed plan",
      { plan: "free", limits: LIMITS },
      "the free plan has fixed limits; leave limits out",
    ],
    ["a limit of zero", { plan: "enterprise", limits: { perMinute: 0, perDay: 1 } }, LIMITS_NEEDED],
    ["a fraction", { plan: "enterprise", limits: { perMinute: 1, perDay: 1.5 } }, LIMITS_NEEDED],
    ["text", { plan: "enterprise", limits: { perMinute: "1", perDay: 1 } }, LIMITS_NEEDED],
    ["a label that is too long", { plan: "free", label: "x".repeat(201) }, LABEL],
    ["a label that is no text", { plan: "free", label: [] }, LABEL],
    ["a label with NUL", { plan: "free", label: "a\0" }, LABEL],
    ["a label with a lone surrogate", { plan: "free", label: "\ud800" }, LABEL],
    [
      "a misspelt field",
      { plan: "free", exipresAt: 5 },
      "exipresAt is unknown; known are plan, limits, label, expiresAt",
    ],
    ["an expiry in the past", { plan: "free", expiresAt: 5 }, EXPIRY],
    ["an expiry now", { plan: "free", expiresAt: createManualClock().now() }, EXPIRY],
    ["an expiry beyond every date", { plan: "free", expiresAt: 8_640_000_000_000_001 }, EXPIRY],
    ["an expiry that is no date", { plan: "free", expiresAt: new Date("x") }, EXPIRY],
    ["no object", 5, "the request must be an object"],
  ])("refuses %s and says so", async (_, input, problem) => {
    const refusal = error(await openStore().store.keys.issue(input as never));
    expect(refusal).toEqual({ code: "invalid_key_request", message: `${problem}.` });
  });

  it("takes a label of 200 characters, and limits up to 2^53−1, which are counted exactly", async () => {
    const { store, issue } = openStore();
    const most = Number.MAX_SAFE_INTEGER;
    const label = "x".repeat(200);
    const limits = { perMinute: most, perDay: most };
    const { id, secret } = await issue({ plan: "enterprise", label, limits });
    expect(value(await store.keys.find(id))).toMatchObject({ label, limits });
    expect(value(await store.as(secret).admit()).quota.remaining).toBe(most - 1);
  });
});

describe("a random source", () => {
  const sevens = (size: number) => new Uint8Array(size).fill(7);

  const WRONG = "The random source must return a Uint8Array of 30 bytes.";
  it.each<[string, string, (size: number) => Uint8Array]>([
    ["throws", "no randomness", () => expect.fail("no randomness")],
    ["gives too much", WRONG, () => new Uint8Array(64)],
    ["gives nothing", WRONG, () => new Uint8Array(0)],
    ["gives no bytes", WRONG, (size) => Array.from({ length: size }, Math.random) as never],
    [
      "gives only bytes that favour some characters",
      "The random source returns no random bytes.",
      (size) => new Uint8Array(size).fill(255),
    ],
    ["repeats itself", "This digest is taken.", sevens],
  ])("that later %s makes issuing fail, and changes nothing", async (_, message, later) => {
    let random: (size: number) => Uint8Array = sevens;
    const { store, issue } = openStore({ random: (size) => random(size) });
    const { id, secret } = await issue();
    random = later;
    const failed = error(await store.keys.issue({ plan: "pro" }));
    expect(failed.code).toBe("storage_unavailable");
    expect(JSON.stringify(failed, ["cause", "message"])).toContain(message);
    expect(value(await store.as(secret).admit()).keyId).toBe(id);
    expect(value(await store.keys.list()).keys).toHaveLength(1);
  });

  it("favours no character", async () => {
    let at = 0;
    // Returns each byte once in 256, in an order in which any 30 in a row are spread evenly.
    const random = (size: number) => Uint8Array.from({ length: size }, () => (at++ * 37) % 256);
    const counts = new Map<string, number>();
    for (let key = 0; key < 310; key += 1) {
      // Each key has its own store: the source repeats itself, and a store refuses a repeated secret.
      const { secret } = await openStore({ random, maxAnonymousOrigins: 1 }).issue();
      for (const character of secret.slice(9, 39)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(Math.max(...counts.values()) / Math.min(...counts.values())).toBeLessThan(1.1);
  });
});

describe("a plan that only another host has", () => {
  it("binds its keys with the limits that they were issued with", async () => {
    const storage = createMemoryStorage();
    const there = openStore({ storage, plans: { trial: { perMinute: 2, perDay: 5 } } });
    const { secret } = await there.issue({ plan: "trial" });
    const { quota } = value(await openStore({ storage }).store.as(secret).admit());
    expect(quota).toMatchObject({ limit: 2, remaining: 1 });
  });
});

describe("expiry", () => {
  it("refuses the key from that moment on", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue({ plan: "free", expiresAt: new Date(clock.now() + 1_000) });
    clock.advance(999);
    value(await store.as(secret).admit());
    clock.advance(1);
    expect(error(await store.as(secret).admit()).code).toBe("invalid_api_key");
  });
});

describe("revoke", () => {
  it("refuses the key with the next call, for good, and says when", async () => {
    const { store, clock, issue } = openStore();
    const { id, secret } = await issue();
    const caller = store.as(secret);
    value(await caller.admit());
    const revokedAt = clock.now();
    expect(value(await store.keys.revoke(id)).revokedAt).toBe(revokedAt);
    expect(error(await caller.admit()).code).toBe("invalid_api_key");
    clock.advance(MINUTE);
    expect(value(await store.keys.revoke(id)).revokedAt).toBe(revokedAt);
  });
});

describe("rotate", () => {
  it("replaces the secret at once when there is no overlap", async () => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    const rotated = value(await store.keys.rotate(id));
    expect(rotated.key.id).toBe(id);
    expect(rotated.key.hint).toBe(rotated.secret.slice(0, 13));
    expect(rotated.key.secrets).toHaveLength(1);
    expect(error(await store.as(secret).admit()).code).toBe("invalid_api_key");
    value(await store.as(rotated.secret).admit());
  });

  it("lets old and new secret share one quota during the overlap, then ends the old", async () => {
    const { store, clock, issue } = openStore();
    const { id, secret } = await issue({ plan: "enterprise", limits: LIMITS });
    value(await store.as(secret).admit());
    const rotated = value(await store.keys.rotate(id, { overlapSeconds: 30 }));
    expect(value(await store.as(rotated.secret).admit()).quota.remaining).toBe(3);
    expect(value(await store.as(secret).admit()).quota.remaining).toBe(2);
    clock.advance(30_000);
    expect(error(await store.as(secret).admit()).code).toBe("invalid_api_key");
    expect(value(await store.as(rotated.secret).admit()).quota.remaining).toBe(1);
  });

  it("never extends an expiry: neither the key's nor that of a secret already replaced", async () => {
    const { store, clock, issue } = openStore();
    const { id, secret } = await issue({ plan: "free", expiresAt: clock.now() + 100_000 });
    const second = value(await store.keys.rotate(id, { overlapSeconds: 10 }));
    const third = value(await store.keys.rotate(id, { overlapSeconds: 1_000 }));
    clock.advance(10_000);
    expect(error(await store.as(secret).admit()).code).toBe("invalid_api_key");
    value(await store.as(second.secret).admit());
    clock.advance(90_000);
    expect(error(await store.as(third.secret).admit()).code).toBe("invalid_api_key");
  });

  it("keeps at most eight secrets, and ends the oldest", async () => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    const secrets = [secret];
    for (let rotation = 0; rotation < 9; rotation += 1) {
      secrets.push(value(await store.keys.rotate(id, { overlapSeconds: 1_000 })).secret);
    }
    const outcomes = await Promise.all(secrets.map((each) => store.as(each).admit()));
    expect(outcomes.map((outcome) => outcome.isOk())).toEqual([
      ...[false, false],
      ...Array<boolean>(8).fill(true),
    ]);
  });

  it("is refused on a key that is revoked or expired", async () => {
    const { store, clock, issue } = openStore();
    const { id } = await issue();
    const { id: expired } = await issue({ plan: "free", expiresAt: clock.now() + 1 });
    await store.keys.revoke(id);
    clock.advance(1);
    expect(error(await store.keys.rotate(id)).code).toBe("key_inactive");
    expect(error(await store.keys.rotate(expired)).code).toBe("key_inactive");
  });

  it("takes an overlap of a year", async () => {
    const { store, clock, issue } = openStore();
    const { id, secret } = await issue();
    value(await store.keys.rotate(id, { overlapSeconds: 31_536_000 }));
    clock.advance(31_536_000_000 - 1);
    value(await store.as(secret).admit());
  });

  const OVERLAP = "overlapSeconds must be an integer from 0 to 31536000.";
  it.each([
    [{ overlapSeconds: -1 }, OVERLAP],
    [{ overlapSeconds: 1.5 }, OVERLAP],
    [{ overlapSeconds: Number.NaN }, OVERLAP],
    [{ overlapSeconds: 31_536_001 }, OVERLAP],
    [{ overlap: 30 }, "overlap is unknown; known are overlapSeconds."],
  ])("refuses %j, and the old secret stays good", async (options, message) => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    expect(error(await store.keys.rotate(id, options as never))).toMatchObject({ message });
    value(await store.as(secret).admit());
  });
});

describe("changePlan", () => {
  it("keeps the usage", async () => {
    const { store, issue } = openStore();
    const { id, secret } = await issue();
    for (let request = 0; request < 10; request += 1) value(await store.as(secret).admit());
    const key = value(await store.keys.changePlan(id, { plan: "pro" }));
    expect(key).toMatchObject({ plan: "pro", limits: { perMinute: 300, perDay: 10_000 } });
    expect(value(await store.as(secret).admit()).quota).toMatchObject({
      limit: 300,
      remaining: 289,
    });
    value(await store.keys.changePlan(id, { plan: "enterprise", limits: LIMITS }));
    expect(error(await store.as(secret).admit()).quota).toMatchObject({ remaining: 0 });
  });

  it("refuses the same input as issue", async () => {
    const { store, issue } = openStore();
    const { id } = await issue();
    for (const to of [
      { plan: "gold" },
      { plan: "enterprise" },
      { plan: "pro", limits: LIMITS },
      { plan: "pro", limit: 5 },
    ]) {
      expect(error(await store.keys.changePlan(id, to)).code).toBe("invalid_key_request");
    }
    expect(value(await store.keys.find(id)).plan).toBe("free");
  });
});

describe("purge", () => {
  const DAY = 86_400_000;

  it("removes exactly the keys that were revoked or expired longer ago, with their usage", async () => {
    const storage = createMemoryStorage();
    const { store, clock, issue } = openStore({ storage });
    const [old, expired, recent, live] = await Promise.all([
      issue(),
      issue({ plan: "free", expiresAt: clock.now() + 1_000 }),
      issue(),
      issue({ plan: "free", expiresAt: clock.now() + 365 * DAY }),
    ]);
    value(await store.as(old.secret).admit());
    value(await store.keys.revoke(old.id));
    clock.advance(1_000);
    value(await store.keys.revoke(recent.id));
    value(await store.keys.revoke(expired.id));

    clock.advance(90 * DAY);
    expect(value(await store.keys.purge({ olderThanSeconds: 90 * 86_400 }))).toEqual({ purged: 1 });
    expect(error(await store.keys.find(old.id)).code).toBe("key_not_found");
    expect(error(await store.as(old.secret).admit()).code).toBe("invalid_api_key");
    const ids = value(await store.keys.list()).keys.map(({ id }) => id);
    expect(ids).toEqual([expired.id, recent.id, live.id]);

    clock.advance(1);
    expect(value(await store.keys.purge({ olderThanSeconds: 90 * 86_400 }))).toEqual({ purged: 2 });
    expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 0 });
    value(await store.as(live.secret).admit());
  });

  it("removes any number of keys, wherever they are in the list", async () => {
    const { store, clock, issue } = openStore();
    const kept: string[] = [];
    for (let index = 0; index < 300; index += 1) {
      const { id } = await issue();
      if (index % 3 === 0) kept.push(id);
      else value(await store.keys.revoke(id));
    }
    clock.advance(1);
    expect(value(await store.keys.purge({ olderThanSeconds: 0 }))).toEqual({ purged: 200 });
    const { keys } = value(await store.keys.list({ limit: 1_000 }));
    expect(keys.map(({ id }) => id)).toEqual(kept);
  });

  it.each([
    [{ olderThanSeconds: -1 }, "olderThanSeconds must be an integer from 0 to 3153600000."],
    [{ olderThanSeconds: 0.5 }, "olderThanSeconds must be an integer from 0 to 3153600000."],
    [{}, "olderThanSeconds"],
    [{ olderThan: 5 }, "olderThan"],
    [undefined, "the request must be an object."],
  ])("refuses %j", async (options, message) => {
    const refusal = error(await openStore().store.keys.purge(options as never));
    expect(refusal.code).toBe("invalid_key_request");
    expect(refusal.message).toContain(message);
  });
});

describe("find, list and usage", () => {
  it.each([
    [0, 3_000],
    [1, 50],
    [-1, 50],
  ])("with a clock that moves by %i, %i keys sort in the order of issue", async (step, count) => {
    const { store, clock, issue } = openStore();
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      ids.push((await issue()).id);
      clock.advance(step);
    }
    expect([...new Set(ids)].toSorted()).toEqual(ids);
    expect(value(await store.keys.list({ limit: 5 })).keys.map(({ id }) => id)).toEqual(
      ids.slice(0, 5),
    );
  });

  it("sorts the keys of two processes by the time of issue", async () => {
    const storage = createMemoryStorage();
    const clock = createManualClock();
    const [one, other] = [openStore({ storage, clock }), openStore({ storage, clock })];
    const ids: string[] = [];
    for (const { issue } of [one, one, one, other, other, one]) {
      ids.push((await issue()).id);
      if (ids.length > 2) clock.advance(1);
    }
    expect(ids.toSorted()).toEqual(ids);
  });

  it("lists every key, a page at a time", async () => {
    const { store, issue } = openStore();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await issue()).id);
    const pages: (readonly string[])[] = [];
    let after: string | undefined;
    do {
      const page = value(await store.keys.list({ limit: 3, after }));
      pages.push(page.keys.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3)]);
    expect(value(await store.keys.list({ limit: 5 })).next).toBeUndefined();
  });

  it.each([
    [undefined, 100],
    [{ limit: 1_000 }, 101],
  ])("with %j, lists %i of 101 keys", async (input, count) => {
    const { store, issue } = openStore();
    for (let index = 0; index < 101; index += 1) await issue();
    expect(value(await store.keys.list(input)).keys).toHaveLength(count);
  });

  it.each([
    [{ limit: 0 }, "limit must be an integer from 1 to 1000."],
    [{ limit: 1_001 }, "limit must be an integer from 1 to 1000."],
    [{ after: {} }, "after must be a key's id."],
    [{ banned: 1 }, "banned must be true or false."],
    [{ pages: 1 }, "pages is unknown; known are limit, after, banned."],
    [null, "the request must be an object."],
  ])("refuses to list %j", async (input, message) => {
    const refusal = error(await openStore().store.keys.list(input as never));
    expect(refusal).toEqual({ code: "invalid_key_request", message });
  });

  it("finds a key by each of its secrets, as long as it is stored, without charging it", async () => {
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
  });

  it.each([
    ["of another store", async () => (await openStore().issue()).secret],
    ["that cannot be one", () => "pet_live_"],
    ["that is not text", () => ({}) as never],
  ])("does not find a secret %s", async (_, secretOf) => {
    const { code, message } = error(await openStore().store.keys.findBySecret(await secretOf()));
    expect([code, message]).toEqual(["key_not_found", "No API key has this secret."]);
  });

  it("shows both windows and the last use without charging the key", async () => {
    const { store, clock, issue } = openStore();
    const { id, secret } = await issue();
    value(await store.as(secret).admit());
    const usedAt = clock.now();
    clock.advance(10_000);
    for (let look = 0; look < 3; look += 1) {
      expect(value(await store.keys.find(id)).usage).toEqual({
        minute: { limit: 60, remaining: 59, resetAt: usedAt + MINUTE },
        day: { limit: 1_000, remaining: 999, resetAt: usedAt + 1_440 * MINUTE },
      });
    }
    expect(value(await store.keys.find(id)).lastUsedAt).toBe(usedAt);
  });

  it("returns key_not_found for an unknown id, in every operation", async () => {
    const { keys } = openStore().store;
    const results = await Promise.all([
      keys.find("key_x"),
      keys.revoke("key_x"),
      keys.rotate("key_x"),
      keys.changePlan("key_x", { plan: "pro" }),
      keys.liftBan("key_x"),
    ]);
    expect(results.map((result) => error<unknown, { code: string }>(result).code)).toEqual(
      Array(5).fill("key_not_found"),
    );
  });
});
