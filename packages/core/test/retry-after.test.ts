import { describe, expect, it } from "vitest";
import { error, openStore, value } from "./support/open-store.js";

describe("retryAfterSeconds", () => {
  it("a client that waits exactly that long is served, every time", async () => {
    const { store, clock, issue } = openStore({ ban: false });
    const limits = { perMinute: 2, perDay: 1_000 };
    const { secret } = await issue({ plan: "enterprise", limits });
    const caller = store.as(secret);
    for (let cycle = 0; cycle < 1_000; cycle += 1) {
      const admitted = await caller.admit();
      if (admitted.isErr()) {
        const refusal = admitted.error;
        if (refusal.code !== "rate_limit_exceeded") throw new Error(refusal.code);
        expect(refusal.retryAfterSeconds).toBe(
          Math.ceil((refusal.quota.resetAt - clock.now()) / 1_000),
        );
        clock.advance(refusal.retryAfterSeconds * 1_000);
        value(await caller.admit());
      }
      clock.advance(cycle % 977);
    }
  });

  it("is at least one second", async () => {
    const { store, clock, issue } = openStore();
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 1, perDay: 9 } });
    value(await store.as(secret).admit());
    clock.advance(59_999);
    expect(error(await store.as(secret).admit())).toMatchObject({ retryAfterSeconds: 1 });
  });

  it("the message says which limit is used up and when to come back", async () => {
    const { store, issue } = openStore();
    const { secret } = await issue({ plan: "enterprise", limits: { perMinute: 1, perDay: 9 } });
    value(await store.as(secret).admit());
    const { message } = error(await store.as(secret).admit());
    expect(message).toBe("The limit of 1 request per minute is used up; come back in 60 seconds.");
  });
});
