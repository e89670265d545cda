import { expect, test } from "vitest";
import { issue, serve } from "./support/serve.js";

const START = Date.UTC(2030, 0, 1) / 1_000;

test("a Free key has 60 requests a minute: Remaining falls by one, the 61st waits for Reset", async () => {
  const { call, clock } = await serve();
  for (let remaining = 59; remaining >= 0; remaining -= 1) {
    const { status, headers } = await call();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(START + 60),
    });
    clock.advance(10);
  }
  const refused = await call();
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.body)).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
  expect(refused.headers).toMatchObject({
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(START + 60),
    "retry-after": "60",
  });
  clock.advance(60_000);
  expect((await call()).status).toBe(200);
});

test("Reset is rounded up to a whole second", async () => {
  const { call, clock } = await serve();
  clock.advance(1);
  expect((await call()).headers["x-ratelimit-reset"]).toBe(String(START + 61));
});

test("a key that keeps sending after a 429 is banned: 429 api_key_banned until the ban ends", async () => {
  const ban = { graceSeconds: 0, afterRefusals: 2, firstSeconds: 300 };
  const { call, clock } = await serve({ store: { ban } });
  for (let count = 0; count < 60; count += 1) await call();
  for (let count = 0; count < 2; count += 1) {
    expect((await call()).body).toContain('"rate_limit_exceeded"');
  }
  const banned = await call();
  expect(banned.status).toBe(429);
  expect(JSON.parse(banned.body)).toMatchObject({ code: "api_key_banned", status: 429 });
  expect(banned.headers["retry-after"]).toBe("300");
  clock.advance(299_000);
  expect((await call()).status).toBe(429);
  clock.advance(1_000);
  expect((await call()).status).toBe(200);
});

test("plans differ: Pro has 300, Business 1,000 a minute", async () => {
  const { call, store } = await serve();
  const limitOf = async (plan: string): Promise<string | undefined> =>
    (await call({ key: await issue(store, plan) })).headers["x-ratelimit-limit"];
  expect(await limitOf("pro")).toBe("300");
  expect(await limitOf("business")).toBe("1000");
});

test("callers without a valid key share the Free limits of their address; then they get 429", async () => {
  const { call } = await serve();
  expect((await call({ key: null })).headers["x-ratelimit-remaining"]).toBe("59");
  for (let count = 0; count < 59; count += 1) await call({ key: "nonsense" });
  const refused = await call({ key: null });
  expect(refused.status).toBe(429);
  expect(refused.headers["retry-after"]).toBe("60");
  expect((await call()).status).toBe(200);
});
