import { expect, test } from "vitest";
import { compose, issue, serve } from "./support/serve.js";

const rex = '{"name":"Rex","categoryId":7}';

async function serveRex() {
  const served = await serve();
  const post = (sent: string, body = rex, key = served.key) =>
    served.call({ method: "POST", body, key, headers: [`Idempotency-Key: ${sent}`] });
  return { ...served, post };
}

test("the same key and pet get the same 201, marked as a replay, and cost a token each", async () => {
  const { post, call } = await serveRex();
  const first = await post("order-1");
  // Other JSON for the same pet.
  const same = '{"categoryId":7.0,"status":"available","name":"\\u0052ex"}';
  const headers = {
    location: "/v1/pets/1",
    "idempotent-replayed": "true",
    "x-ratelimit-remaining": "58",
  };
  expect(await post("order-1", same)).toMatchObject({ status: 201, body: first.body, headers });
  expect(first.status).toBe(201);
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  expect(JSON.parse((await call()).body)).toHaveLength(1);
});

test("two equal requests that arrive at once get the same 201", async () => {
  const { post } = await serveRex();
  const [one, other] = await Promise.all([post("order-1"), post("order-1")]);
  expect(one.status).toBe(201);
  expect(other).toMatchObject({ status: 201, body: one.body });
});

test.each([
  ["order-1", '"order-1"', true],
  ["it's", '"it\'s"', true],
  // A quoted key may contain characters that a bare one may not.
  ['"a,b;c\\"d\\\\e"', '"a,b;c\\"d\\\\f"', false],
  // 255 characters, of which the last is escaped.
  [`"${"a".repeat(254)}\\""`, `"${"a".repeat(254)}\\\\"`, false],
])("%s and %s: the same key: %j", async (one, other, isSame) => {
  const { post } = await serveRex();
  expect((await post(one)).status).toBe(201);
  expect((await post(other)).headers["idempotent-replayed"]).toBe(isSame ? "true" : undefined);
});

test.each([
  ...["", '""', "a b", '"a b"', "a,b", "a;b", "a\\b", 'a"b', '"a', '"a"b"', '"a";p=1'],
  ...['"a\\b"', "é", "a".repeat(256)],
])("the key %s is 400 invalid_idempotency_key, and nothing is created", async (key) => {
  const { post, call } = await serveRex();
  expect(await post(key)).toMatchObject({
    status: 400,
    body: expect.stringContaining('"invalid_idempotency_key"') as unknown,
  });
  expect((await call()).body).toBe("[]");
});

test("two lines are 400, before the body is read", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  const headers = ["Idempotency-Key: a", "Idempotency-Key: a", "Content-Length: 50000"];
  wire.send(compose({ method: "POST", key, headers }));
  expect((await wire.response()).body).toContain('"invalid_idempotency_key"');
});

test("the same key with another pet is 422, and nothing is created; each API key has its own", async () => {
  const { post, call, store } = await serveRex();
  await post("order-1");
  const { status, body } = await post("order-1", rex.replace("7", "8"));
  expect([status, body]).toEqual([422, expect.stringContaining('"idempotency_key_reused"')]);
  const other = await post("order-1", rex, await issue(store, "free"));
  expect(other.headers["location"]).toBe("/v1/pets/2");
  expect(JSON.parse((await call()).body)).toHaveLength(2);
  // GET ignores the header.
  expect((await call({ headers: ["Idempotency-Key: ,"] })).status).toBe(200);
});
