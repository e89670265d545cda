import { expect, test } from "vitest";
import { serve } from "./support/serve.js";

const MISSING = {
  code: "missing_api_key",
  challenge: 'Bearer realm="petstore"',
};
const INVALID = {
  code: "invalid_api_key",
  challenge: 'Bearer realm="petstore", error="invalid_token"',
};

test.each([
  { name: "no Authorization line", lines: () => [], ...MISSING },
  { name: "another scheme", lines: () => ["Basic cGV0OnBldA=="], ...MISSING },
  { name: "the scheme alone", lines: () => ["Bearer"], ...MISSING },
  { name: "an empty line", lines: () => [""], ...MISSING },
  { name: "the key without a scheme", lines: (key: string) => [key], ...MISSING },
  { name: "a token that is no key", lines: () => ["Bearer nonsense"], ...INVALID },
  { name: "two tokens", lines: (key: string) => [`Bearer ${key} ${key}`], ...INVALID },
  {
    name: "a key with one character changed",
    lines: (key: string) => [`Bearer ${mistype(key)}`],
    ...INVALID,
  },
  {
    name: "the same line twice",
    lines: (key: string) => [`Bearer ${key}`, `Bearer ${key}`],
    ...INVALID,
  },
  {
    name: "a good line and another scheme",
    lines: (key: string) => [`Bearer ${key}`, "Basic eA=="],
    ...INVALID,
  },
])("$name is 401 $code", async ({ lines, code, challenge }) => {
  const { call, key } = await serve();
  const headers = lines(key).map((line) => `Authorization: ${line}`);
  const response = await call({ key: null, headers });
  expect(response.status).toBe(401);
  expect(JSON.parse(response.body)).toMatchObject({ code, status: 401 });
  expect(response.headers["www-authenticate"]).toBe(challenge);
});

test.each(["Bearer", "bearer", "BEARER", "Bearer  "])(
  "the scheme may be written %j",
  async (scheme) => {
    const { call, key } = await serve();
    const { status } = await call({ key: null, headers: [`authorization: ${scheme} ${key}`] });
    expect(status).toBe(200);
  },
);

test("a revoked key is refused from the next request on, and looks like an unknown one", async () => {
  const { call, store } = await serve();
  const [listed] = (await store.keys.list())._unsafeUnwrap().keys;
  expect((await call()).status).toBe(200);
  await store.keys.revoke(listed?.id ?? "");
  expect((await call()).body).toBe((await call({ key: "nonsense" })).body);
});

function mistype(key: string): string {
  return key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
}
