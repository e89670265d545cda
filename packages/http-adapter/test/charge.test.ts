import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { serve, type Call } from "./support/serve.js";

const BIG = "x".repeat(65_537);

test.each<readonly [status: number, what: string, sent: Call]>([
  [200, "a list", {}],
  [200, "a HEAD", { method: "HEAD" }],
  [201, "an added pet", post(PET)],
  [400, "a bad query", { path: "/v1/pets?limit=0" }],
  [400, "malformed JSON", post("{")],
  [400, "an invalid pet", post("{}")],
  [404, "an unknown path", { path: "/v1/dogs" }],
  [404, "an unknown pet", { path: "/v1/pets/1" }],
  [405, "a wrong method", { method: "PUT" }],
  [413, "a body too long", post(BIG)],
  [415, "a wrong media type", post("{}", "Content-Type: text/plain")],
])(
  "%i: %s costs one request; without a key it is 401 and costs its origin one",
  async (status, _, sent) => {
    const { call, store } = await serve();
    const headers = { "x-ratelimit-remaining": "59" };
    expect(await call(sent)).toMatchObject({ status, headers });
    expect((await call()).headers["x-ratelimit-remaining"]).toBe("58");
    expect(await call({ ...sent, key: null })).toMatchObject({ status: 401, headers });
    expect(store.anonymousQuota("127.0.0.1").remaining).toBe(59);
    for (let count = 0; count < 58; count += 1) await call();
    // With nothing left, the limit comes before all else.
    expect((await call(sent)).status).toBe(429);
  },
);

test("a request that is refused for its syntax costs nothing", async () => {
  const { call, store } = await serve();
  expect((await call({ headers: ["Host: twice.test"] })).status).toBe(400);
  expect((await call({ headers: ["Expect: cake"] })).status).toBe(417);
  expect(store.anonymousQuota("127.0.0.1").remaining).toBe(60);
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

function post(body: string, ...headers: string[]): Call {
  return { method: "POST", body, headers };
}
