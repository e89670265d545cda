import { describe, expect, it } from "vitest";
import { error, openStore, value } from "./support/open-store.js";

describe("retryAfterSeconds", () => {
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
