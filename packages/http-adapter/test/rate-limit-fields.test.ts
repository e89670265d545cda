import { expect, test } from "vitest";
import { issue, serve } from "./support/serve.js";

const POLICY = '"minute";q=60;w=60, "day";q=1000;w=86400';

test("both windows are in the draft's fields, on every kind of response", async () => {
  const { call, clock, key } = await serve({ rateLimitFields: "draft-11" });
  const first = await call();
  expect(first.headers["ratelimit-policy"]).toBe(POLICY);
  expect(first.headers["ratelimit"]).toBe('"minute";r=59;t=60, "day";r=999;t=86400');
  clock.advance(500);
  expect((await call({ path: "/v1/nothing" })).headers["ratelimit"]).toBe(
    '"minute";r=58;t=60, "day";r=998;t=86400',
  );
  clock.advance(58_501);
  const refused = await call({ key: `${key}x` });
  expect([refused.status, refused.headers["ratelimit-policy"]]).toEqual([401, POLICY]);
  expect((await call()).headers["ratelimit"]).toBe('"minute";r=57;t=1, "day";r=997;t=86341');
});

test("a ban shows as nothing left until it ends", async () => {
  const { call, clock, store } = await serve({
    rateLimitFields: "draft-11",
    store: { ban: { afterRefusals: 1, firstSeconds: 300 } },
  });
  const key = await issue(store, { perMinute: 1, perDay: 9 });
  await call({ key });
  await call({ key });
  clock.advance(1_001);
  await call({ key });
  const banned = await call({ key });
  expect(banned.body).toContain('"api_key_banned"');
  expect(banned.headers["ratelimit"]).toBe('"minute";r=0;t=300, "day";r=0;t=300');
  expect(banned.headers["retry-after"]).toBe("300");
});

test("the fields are off by default", async () => {
  const { headers } = await (await serve()).call();
  expect(Object.keys(headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
});
