import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import { createPetStoreServer, openApiDocument } from "@petstore/http-adapter";
import { err } from "neverthrow";
import { describe, expect, test } from "vitest";
import { undeclared, undeclaredElsewhere, type OperationKey } from "./support/openapi.js";
import {
  listen,
  makeStore,
  serve,
  type Call,
  type Listening,
  type Served,
} from "./support/serve.js";

const PET = '{"name":"Rex","categoryId":7}';

/** A successful request for each operation. */
const calls: Readonly<Record<OperationKey, Call>> = {
  "GET /pets": {},
  "HEAD /pets": { method: "HEAD" },
  "POST /pets": { method: "POST", body: PET },
  "GET /pets/{petId}": { path: "/v1/pets/1" },
  "HEAD /pets/{petId}": { method: "HEAD", path: "/v1/pets/1" },
  "POST /pets/{petId}": { method: "POST", path: "/v1/pets/1" },
};
const operations: readonly OperationKey[] = [
  "GET /pets",
  "HEAD /pets",
  "POST /pets",
  "GET /pets/{petId}",
  "HEAD /pets/{petId}",
];

/** Every error that any operation may respond with: how to get it from a good call. */
const ofAll: Readonly<Record<string, (good: Call) => Promise<[Listening, Call]>>> = {
  bad_request: async (good) => [await serve(), { ...good, headers: ["Host: twice.test"] }],
  missing_api_key: async (good) => [await serve(), { ...good, key: null }],
  invalid_api_key: async (good) => [await serve(), { ...good, key: "made-up" }],
  expectation_failed: async (good) => [await serve(), { ...good, headers: ["Expect: cake"] }],
  rate_limit_exceeded: async (good) => [await spent(60), good],
  api_key_banned: async (good) => [await spent(121), good],
  internal_error: async (good) => [await serveBroken(), good],
  storage_unavailable: async (good) => [await serve({ store: { storage: failing() } }), good],
  store_closed: async (good) => [await serveClosed(), good],
};

describe.each(operations)("%s", (operation) => {
  test("every response without an error is declared", async () => {
    const { call, create } = await serve();
    await create(PET);
    const response = await call(calls[operation]);
    expect(response.status).toBe(operation.startsWith("POST") ? 201 : 200);
    expect(undeclared(operation, response)).toEqual([]);
  });

  test.each(Object.entries(ofAll))("%s is declared", async (code, arrange) => {
    const [{ call }, sent] = await arrange(calls[operation]);
    const response = await call(sent);
    if (response.body !== "") expect(response.body).toBe(exampleOf(operation, code));
    expect(undeclared(operation, response)).toEqual([]);
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});

test.each<[OperationKey, string, Call]>([
  ["GET /pets", "invalid_query", { path: "/v1/pets?limit=0" }],
  ["POST /pets", "malformed_json", { method: "POST", body: "{" }],
  ["POST /pets", "invalid_pet", { method: "POST", body: '{"name":"Rex"}' }],
  ["POST /pets", "payload_too_large", { method: "POST", body: " ".repeat(65_537) }],
  [
    "POST /pets",
    "unsupported_media_type",
    { method: "POST", body: PET, headers: ["Content-Type: text/plain"] },
  ],
  ["GET /pets/{petId}", "pet_not_found", { path: "/v1/pets/2" }],
])("%s: %s is declared, and is what the example says", async (operation, code, sent) => {
  const { call } = await serve();
  const response = await call(sent);
  expect(response.body).toBe(exampleOf(operation, code));
  expect(undeclared(operation, response)).toEqual([]);
});

test("a compressed body is declared", async () => {
  const { call } = await serve();
  const headers = ["Content-Encoding: gzip"];
  const response = await call({ method: "POST", body: PET, headers });
  expect(response.status).toBe(415);
  expect(undeclared("POST /pets", response)).toEqual([]);
});

test.each([
  ["not_found", { path: "/v1/dogs" }],
  ["method_not_allowed", { method: "DELETE" }],
])("%s is declared for requests that ask for no operation", async (code, sent) => {
  const { call } = await serve();
  const response = await call(sent);
  expect(response.body).toContain(code);
  expect(undeclaredElsewhere(response)).toEqual([]);
});

describe.each(operations)("%s, where the message cannot be read", (operation) => {
  test.each<[status: number, text: string]>([
    [400, "GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"],
    [408, "GET /v1/pets HTTP/1.1\r\nHost: a\r\n"],
    [431, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}`],
  ])("%i is declared", async (status, text) => {
    const soon = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 };
    const { dial } = await serve({ limits: status === 408 ? soon : {} });
    const wire = await dial();
    wire.send(text);
    const response = await wire.response();
    expect(response.status).toBe(status);
    // Whether it was HEAD cannot be known: the body is there in any case.
    const body = operation.startsWith("HEAD") ? "" : response.body;
    expect(undeclared(operation, { ...response, body })).toEqual([]);
  });
});

test("a page with more to come, and pets at the ends of int64, are declared", async () => {
  const { call, create } = await serve();
  await create('{"name":"","categoryId":9223372036854775807,"status":"sold"}');
  await create('{"name":"\\"","categoryId":-9223372036854775808,"status":"pending","id":5}');
  for (const path of ["/v1/pets?limit=1", "/v1/pets?limit=1&status=sold", "/v1/pets?after=1"]) {
    const response = await call({ path });
    expect(response.status).toBe(200);
    expect(undeclared("GET /pets", response)).toEqual([]);
  }
});

test("the check finds errors in a response", async () => {
  const { call, create } = await serve();
  await create(PET);
  const response = await call();
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(([name]) => name !== "x-ratelimit-reset"),
  );
  expect(undeclared("GET /pets", { ...response, headers })).toEqual([
    "X-RateLimit-Reset is missing",
  ]);
  expect(undeclared("GET /pets", { ...response, status: 202 })).toHaveLength(1);
  expect(undeclared("GET /pets", { ...response, body: '[{"id":1}]' })).toHaveLength(1);
  expect(
    undeclared("GET /pets", { ...response, headers: { ...response.headers, "x-new": "1" } }),
  ).toEqual(["x-new is not declared"]);
});

/** The body that the document shows for a code. */
function exampleOf(operation: OperationKey, code: string): string {
  const path = operation.slice(operation.indexOf(" ") + 1) as "/pets";
  const { get, post } = openApiDocument.paths[path];
  const { responses } = operation.startsWith("POST") ? post : get;
  const examples = Object.values(responses).flatMap(({ content }) =>
    Object.entries(content?.["application/json"].examples ?? {}),
  );
  return JSON.stringify(new Map(examples).get(code)?.value);
}

/** A store whose key has sent this many requests. */
async function spent(requests: number): Promise<Served> {
  const served = await serve({ store: { ban: { graceSeconds: 0 } } });
  const caller = served.store.as(served.key);
  for (let sent = 0; sent < requests; sent += 1) await caller.admit();
  return served;
}

async function serveClosed(): Promise<Served> {
  const served = await serve();
  await served.store.close();
  return served;
}

async function serveBroken(): Promise<Listening> {
  const made = await makeStore();
  const as = (): never => {
    throw new Error("a bug");
  };
  const server = createPetStoreServer({ ...made.store, as });
  return listen(server, made.key);
}

function failing(): Storage {
  const storage = createMemoryStorage();
  const fail = () => Promise.resolve(err(storageFailure("disk full")));
  return { ...storage, pets: { ...storage.pets, create: fail, find: fail, list: fail } };
}
