import { expect, test } from "vitest";
import { issue, serve } from "./support/serve.js";

const rex = '{"name":"Rex","categoryId":7}';

async function serveRex() {
  const served = await serve();
  const post = (keys: readonly string[], body = rex, key = served.key) =>
    served.call({
      method: "POST",
      body,
      key,
      headers: keys.map((each) => `Idempotency-Key: ${each}`),
    });
  return { ...served, post };
}

test("the same key and pet get the same 201, marked as a replay, and cost a token each", async () => {
  const { post, call } = await serveRex();
  const first = await post(["order-1"]);
  // Other JSON for the same pet.
  const retry = await post(
    ["order-1"],
    '{"categoryId":7.0,"status":"available","name":"\\u0052ex"}',
  );
  expect([first.status, retry.status]).toEqual([201, 201]);
  expect(retry.body).toBe(first.body);
  expect(retry.headers["location"]).toBe("/v1/pets/1");
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  expect(retry.headers["idempotent-replayed"]).toBe("true");
  expect(retry.headers["x-ratelimit-remaining"]).toBe("58");
  expect(JSON.parse((await call()).body)).toHaveLength(1);
});

test("two equal requests that arrive at once get the same 201", async () => {
  const { post } = await serveRex();
  const twins = await Promise.all([post(["order-1"]), post(["order-1"])]);
  expect(twins.map(({ status }) => status)).toEqual([201, 201]);
  expect(twins[0].body).toBe(twins[1].body);
});

test.each([
  ["order-1", '"order-1"'],
  ["it's", '"it\'s"'],
])("bare %s and quoted %s are the same key", async (bare, quoted) => {
  const { post } = await serveRex();
  await post([bare]);
  expect((await post([quoted])).headers["idempotent-replayed"]).toBe("true");
});

test("a quoted key may contain characters that a bare one may not", async () => {
  const { post } = await serveRex();
  expect((await post(['"a,b;c\\"d\\\\e"'])).status).toBe(201);
  expect((await post(['"a,b;c\\"d\\\\f"'])).headers["idempotent-replayed"]).toBeUndefined();
});

test.each([
  [[""]],
  [['""']],
  [["a b"]],
  [['"a b"']],
  [["a,b"]],
  [["a;b"]],
  [["a\\b"]],
  [['a"b']],
  [['"a']],
  [['"a"b']],
  [['"a";p=1']],
  [['"a\\b"']],
  [["é"]],
  [["a".repeat(256)]],
  [["a", "a"]],
])("%j is 400 invalid_idempotency_key, and nothing is created", async (keys) => {
  const { post, call } = await serveRex();
  const { status, body } = await post(keys);
  expect([status, body]).toEqual([400, expect.stringContaining('"invalid_idempotency_key"')]);
  expect((await call()).body).toBe("[]");
});

test("a bad key is refused before the body is read", async () => {
  const { dial, key } = await serveRex();
  const wire = await dial();
  const head = ["POST /v1/pets HTTP/1.1", "Host: a", `Authorization: Bearer ${key}`];
  wire.send([...head, 'Idempotency-Key: "', "Content-Length: 50000", "", ""].join("\r\n"));
  expect((await wire.response()).status).toBe(400);
});

test("the same key with another pet is 422, and nothing is created", async () => {
  const { post, call } = await serveRex();
  await post(["order-1"]);
  const { status, body } = await post(["order-1"], rex.replace("7", "8"));
  expect([status, body]).toEqual([422, expect.stringContaining('"idempotency_key_reused"')]);
  expect(JSON.parse((await call()).body)).toHaveLength(1);
});

test("another API key has keys of its own", async () => {
  const { post, store } = await serveRex();
  await post(["order-1"]);
  const other = await post(["order-1"], rex, await issue(store, "free"));
  expect(other.headers["location"]).toBe("/v1/pets/2");
});

test("GET ignores the header", async () => {
  const { call } = await serveRex();
  expect((await call({ headers: ["Idempotency-Key: ,"] })).status).toBe(200);
});
