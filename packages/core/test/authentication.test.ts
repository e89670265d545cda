import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createMemoryStorage, type Storage } from "@petstore/core";
import { error, openStore, value } from "./support/open-store.js";

/** A storage that counts the look-ups made for presented keys. */
function countingStorage(): { readonly storage: Storage; readonly lookUps: () => number } {
  const inner = createMemoryStorage();
  let count = 0;
  return {
    storage: {
      ...inner,
      usage: {
        update: (keyId, decide) => inner.usage.update(keyId, decide),
        charge: (digest, decide) => {
          count += 1;
          return inner.usage.charge(digest, decide);
        },
      },
    },
    lookUps: () => count,
  };
}

describe("authentication", () => {
  it.each([undefined, ""])("without a key (%o) the error is missing_api_key", async (apiKey) => {
    expect(error(await openStore().store.as(apiKey).listPets()).code).toBe("missing_api_key");
  });

  it("unknown, mistyped, revoked and expired keys look the same", async () => {
    const { store, clock, issue } = openStore();
    const revoked = await issue();
    const expired = await issue({ plan: "free", expiresAt: clock.now() + 1 });
    const elsewhere = await openStore().issue();
    await store.keys.revoke(revoked.id);
    clock.advance(1);
    const presented = [revoked.secret, expired.secret, elsewhere.secret, "pet_live_x", "nonsense"];
    const refusals = await Promise.all(presented.map((secret) => store.as(secret).listPets()));
    const seen = refusals.map((refusal) => {
      const { code, message } = error(refusal);
      return { code, message };
    });
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(seen[0]?.code).toBe("invalid_api_key");
  });

  it("a mistyped key is refused without a look-up", async () => {
    const { storage, lookUps } = countingStorage();
    const { store, issue } = openStore({ storage });
    const { secret } = await issue();
    const mistyped = (at: number) =>
      secret.slice(0, at) + (secret[at] === "x" ? "y" : "x") + secret.slice(at + 1);
    for (let at = 0; at < secret.length; at += 1) {
      expect(error(await store.as(mistyped(at)).admit()).code).toMatch(/invalid|rate_limit/);
    }
    expect(lookUps()).toBe(0);
    value(await store.as(secret).admit());
    expect(lookUps()).toBe(1);
  });

  it("each refused request takes one token from the Free limits of its origin", async () => {
    const { store } = openStore();
    const refusal = error(await store.as("bad", "192.0.2.1").listPets());
    expect(refusal.quota).toMatchObject({ limit: 60, remaining: 59 });
    expect(store.anonymousQuota("192.0.2.1").remaining).toBe(59);
    expect(store.anonymousQuota("192.0.2.2").remaining).toBe(60);
  });

  it("when the origin has used them up, requests without a key get rate_limit_exceeded, and a valid key is still served", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue();
    for (let request = 0; request < 60; request += 1)
      await store.as(undefined, "192.0.2.1").admit();
    for (const bad of [undefined, "bad", (await openStore().issue()).secret]) {
      expect(error(await store.as(bad, "192.0.2.1").admit())).toMatchObject({
        code: "rate_limit_exceeded",
        retryAfterSeconds: 60,
      });
    }
    value(await store.as(secret, "192.0.2.1").admit());
    expect(error(await store.as("bad", "192.0.2.2").admit()).code).toBe("invalid_api_key");
    clock.advance(60_000);
    expect(error(await store.as("bad", "192.0.2.1").admit()).code).toBe("invalid_api_key");
  });

  it.each([
    [{ maxAnonymousOrigins: 2 }, 2],
    [{}, 10_000],
  ])("with %o it remembers %i origins", async (options, most) => {
    const { store } = openStore(options);
    for (let origin = 0; origin <= most; origin += 1) await store.as("bad", `${origin}`).admit();
    const remaining = [0, 1, most].map((origin) => store.anonymousQuota(`${origin}`).remaining);
    expect(remaining).toEqual([60, 59, 59]);
  });

  it("a secret appears neither in the store, a caller or an error nor in the storage", async () => {
    const storage = createMemoryStorage();
    const { store, issue } = openStore({ storage });
    const { secret } = await issue();
    const caller = store.as(secret);
    const shown = [
      store,
      caller,
      await caller.listPets(),
      await store.keys.list(),
      await store.as(`${secret}x`).listPets(),
      await storage.keys.list({ limit: 9, after: undefined, banned: false }),
    ];
    expect(inspect(shown, { depth: 20, showHidden: true })).not.toContain(secret.slice(13));
  });
});
