import { expect, test } from "vitest";
import { serve, type Call } from "./support/serve.js";

test.each<{ readonly status: number; readonly sent: Call }>([
  { status: 200, sent: {} },
  { status: 200, sent: { method: "HEAD" } },
  { status: 200, sent: { headers: ["X-Asked: host", "X-More: authorization", "X-Last: x"] } },
  { status: 201, sent: { method: "POST", body: '{"name":"Rex","categoryId":1}' } },
  { status: 400, sent: { path: "/v1/pets?limit=x" } },
  { status: 400, sent: { headers: ["Host: twice.test"] } },
  { status: 401, sent: { key: null } },
  { status: 401, sent: { key: "nonsense" } },
  { status: 404, sent: { path: "/v1" } },
  { status: 404, sent: { path: "/v1/pets/0" } },
  { status: 405, sent: { method: "DELETE" } },
  { status: 413, sent: { method: "POST", body: "x".repeat(65_537) } },
  { status: 415, sent: { method: "POST", body: "{}", headers: ["Content-Encoding: gzip"] } },
  { status: 417, sent: { headers: ["Expect: cake"] } },
])("every $status carries what every response carries: $sent", async ({ status, sent }) => {
  const { call } = await serve();
  const { headers, body, ...response } = await call(sent);
  expect(response.status).toBe(status);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-ratelimit-limit": expect.stringMatching(/^\d+$/) as unknown,
    "x-ratelimit-remaining": expect.stringMatching(/^\d+$/) as unknown,
    "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/) as unknown,
  });
  expect(headers).not.toHaveProperty("x-powered-by");
  expect(headers).not.toHaveProperty("transfer-encoding");
  if (sent.method !== "HEAD") expect(headers["content-length"]).toBe(`${Buffer.byteLength(body)}`);
  if (status >= 400) {
    expect(Object.keys(parse(body))).toEqual(["code", "message", "status"]);
    expect(parse(body)["status"]).toBe(status);
  }
});

test("a request that is refused for its syntax costs nothing", async () => {
  const { call, store } = await serve();
  expect((await call({ headers: ["Host: twice.test"] })).status).toBe(400);
  expect((await call({ headers: ["Expect: cake"] })).status).toBe(417);
  expect(store.anonymousQuota("127.0.0.1").remaining).toBe(60);
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

function parse(body: string): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>;
}
