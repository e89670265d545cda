import { createManualClock, createPetStore } from "@petstore/core";
import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import { openStorage } from "../open-storage.js";
import { useFolder } from "../temporary-folder.js";

const CYCLES = sized(300, 1_000, 10_000);

const folder = useFolder();

it.each([
  ["a limit", false, 500, "rate_limit_exceeded"],
  ["a ban", { graceSeconds: 0 }, 20, "api_key_banned"],
] as const)(
  `a client that waits exactly Retry-After out is served, ${String(CYCLES)} times of ${String(CYCLES)}: %s`,
  async (_, ban, perDay, code) => {
    const clock = createManualClock();
    const storage = await openStorage({ filename: folder.path("pets.db") });
    const store = createPetStore({ storage, clock, ban });
    const limits = { perMinute: 2, perDay };
    const { secret } = (await store.keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap();
    const caller = store.as(secret);

    let cycles = 0;
    let servedAfterWaiting = 0;
    let daysUsedUp = 0;
    while (cycles < CYCLES) {
      const refusal = await caller.admit();
      if (refusal.isErr() && refusal.error.code === code) {
        cycles += 1;
        const { retryAfterSeconds, quota } = refusal.error;
        if (quota.limit === limits.perDay) daysUsedUp += 1;
        expect(retryAfterSeconds).toBe(Math.ceil((quota.resetAt - clock.now()) / 1_000));
        clock.advance(retryAfterSeconds * 1_000);
        if ((await caller.admit()).isOk()) servedAfterWaiting += 1;
        clock.advance((cycles * 7) % 977);
      }
    }
    expect(servedAfterWaiting).toBe(CYCLES);
    expect(daysUsedUp).toBeGreaterThan(0);
    await store.close();
  },
);
