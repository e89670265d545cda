import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { compose, serve } from "./support/serve.js";

async function serveRex() {
  const served = await serve();
  const post = (sent: string, body = PET) =>
    served.call({ method: "POST", body, headers: [`Idempotency-Key: ${sent}`] });
  return { ...served, post };
}

test("the same key and pet get the same 201, marked as a replay, and cost a token each; another pet gets 422", async () => {
  const { post, call } = await serveRex();
  const first = await post("order-1");
  expect(first.status).toBe(201);
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  // Other JSON for the same pet.
  const same = '{"categoryId":1.0,"status":"available","name":"\\u0052ex"}';
  const headers = {
    location: "/v1/pets/1",
    "idempotent-replayed": "true",
    "x-ratelimit-remaining": "58",
  };
  expect(await post("order-1", same)).toMatchObject({ status: 201, body: first.body, headers });
  const { status, body } = await post("order-1", PET.replace("1", "8"));
  expect([status, body]).toEqual([422, expect.stringContaining('"idempotency_key_reused"')]);
  // GET ignores the header.
  expect(JSON.parse((await call({ headers: ["Idempotency-Key: ,"] })).body)).toHaveLength(1);
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
  const headers = ["Idempotency-Key: a", "Idempotency-Key: a", "Content-Length: 50000"];
  const wire = await dial(compose({ method: "POST", key, headers }));
  expect((await wire.response()).body).toContain('"invalid_idempotency_key"');
});
