import { expect, test } from "vitest";
import { serve, type Call } from "./support/serve.js";

const BIG = "x".repeat(65_537);

test.each<{ readonly status: number; readonly what: string; readonly sent: Call }>([
  { status: 200, what: "a list", sent: {} },
  { status: 200, what: "a HEAD", sent: { method: "HEAD" } },
  { status: 201, what: "an added pet", sent: post('{"name":"Rex","categoryId":1}') },
  { status: 400, what: "a bad query", sent: { path: "/v1/pets?limit=0" } },
  { status: 400, what: "malformed JSON", sent: post("{") },
  { status: 400, what: "an invalid pet", sent: post("{}") },
  { status: 404, what: "an unknown path", sent: { path: "/v1/dogs" } },
  { status: 404, what: "an unknown pet", sent: { path: "/v1/pets/1" } },
  { status: 405, what: "a wrong method", sent: { method: "PUT" } },
  { status: 413, what: "a body too long", sent: post(BIG) },
  { status: 415, what: "a wrong media type", sent: post("{}", "Content-Type: text/plain") },
])("$what ($status) costs one request", async ({ status, sent }) => {
  const { call } = await serve();
  const response = await call(sent);
  expect(response.status).toBe(status);
  expect(response.headers["x-ratelimit-remaining"]).toBe("59");
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("58");
});

test.each<Call>([{ path: "/v1/dogs" }, { method: "PUT" }, post("{"), post(BIG)])(
  "without a key the same is 401 and costs the origin one: %#",
  async (sent) => {
    const { call, store } = await serve();
    const response = await call({ ...sent, key: null });
    expect(response.status).toBe(401);
    expect(response.headers["x-ratelimit-remaining"]).toBe("59");
    expect(store.anonymousQuota("127.0.0.1").remaining).toBe(59);
  },
);

test.each<Call>([{ path: "/v1/dogs" }, { method: "PUT" }, post("{"), post(BIG)])(
  "with nothing left the same is 429: %#",
  async (sent) => {
    const { call } = await serve();
    for (let count = 0; count < 60; count += 1) await call();
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
