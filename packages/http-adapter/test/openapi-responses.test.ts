import { createMemoryStorage, storageFailure, type Storage } from "@petstore/core";
import { createPetStoreServer, openApiDocument } from "@petstore/http-adapter";
import { err } from "neverthrow";
import { describe, expect, test } from "vitest";
import { operations, undeclared, undeclaredElsewhere, type Operation } from "./support/openapi.js";
import { PET } from "./support/pet.js";
import {
  listen,
  makeStore,
  serve,
  type Call,
  type Listening,
  type Served,
} from "./support/serve.js";

/** A successful request for each operation. */
const calls: Readonly<Record<Operation, Call>> = {
  "GET /pets": {},
  "HEAD /pets": { method: "HEAD" },
  "POST /pets": { method: "POST", body: PET },
  "GET /pets/{petId}": { path: "/v1/pets/1" },
  "HEAD /pets/{petId}": { method: "HEAD", path: "/v1/pets/1" },
};

/** Every error that any operation may respond with: the server, and what differs from a good request. */
const ofAll: Readonly<Record<string, readonly [start: () => Promise<Listening>, sent?: Call]>> = {
  bad_request: [serve, { headers: ["Host: twice.test"] }],
  missing_api_key: [serve, { key: null }],
  invalid_api_key: [serve, { key: "made-up" }],
  expectation_failed: [serve, { headers: ["Expect: cake"] }],
  rate_limit_exceeded: [() => spent(60)],
  api_key_banned: [() => spent(121)],
  internal_error: [serveBroken],
  storage_unavailable: [() => serve({ store: { storage: failing() } })],
  store_closed: [serveClosed],
};

describe.each(operations)("%s", (operation) => {
  test("every response without an error is declared", async () => {
    const { call, create } = await serve();
    await create(PET);
    const response = await call(calls[operation]);
    expect(response.status).toBe(operation.startsWith("POST") ? 201 : 200);
    expect(undeclared(operation, response)).toBe("");
  });

  test.each(Object.entries(ofAll))("%s is declared", async (code, [start, sent]) => {
    const response = await (await start()).call({ ...calls[operation], ...sent });
    if (!operation.startsWith("HEAD")) expect(response.body).toBe(exampleOf(operation, code));
    expect(undeclared(operation, response)).toBe("");
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});

const post = (body: string, ...headers: readonly string[]): Call => ({
  method: "POST",
  body,
  headers,
});

test.each<[Operation, string, Call]>([
  ["GET /pets", "invalid_query", { path: "/v1/pets?limit=0" }],
  ["POST /pets", "malformed_json", post("{")],
  ["POST /pets", "invalid_pet", post('{"name":"Rex"}')],
  ["POST /pets", "payload_too_large", post(" ".repeat(65_537))],
  ["POST /pets", "unsupported_media_type", post(PET, "Content-Type: text/plain")],
  ["POST /pets", "invalid_idempotency_key", post(PET, "Idempotency-Key: ,")],
  ["GET /pets/{petId}", "pet_not_found", { path: "/v1/pets/2" }],
])("%s: %s is declared, and is what the example says", async (operation, code, sent) => {
  const { call } = await serve();
  const response = await call(sent);
  expect(response.body).toBe(exampleOf(operation, code));
  expect(undeclared(operation, response)).toBe("");
});

test("a compressed body, a replay, and a key that is used again are declared", async () => {
  const { call } = await serve();
  for (const [status, sent] of [
    [415, post(PET, "Content-Encoding: gzip")],
    [201, post(PET, "Idempotency-Key: a")],
    [201, post(PET, "Idempotency-Key: a")],
    [422, post(PET.replace("1", "2"), "Idempotency-Key: a")],
  ] as const) {
    const response = await call(sent);
    expect(response.status).toBe(status);
    expect(undeclared("POST /pets", response)).toBe("");
  }
});

test.each([
  ["not_found", { path: "/v1/dogs" }],
  ["method_not_allowed", { method: "DELETE" }],
])("%s is declared for requests that ask for no operation", async (code, sent) => {
  const { call } = await serve();
  const response = await call(sent);
  expect(response.body).toContain(code);
  expect(undeclaredElsewhere(response)).toBe("");
});

test.each<[status: number, text: string]>([
  [400, "GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"],
  [408, "GET /v1/pets HTTP/1.1\r\nHost: a\r\n"],
  [431, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}`],
])("%i is declared for every operation, where the message cannot be read", async (status, text) => {
  const soon = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 };
  const { dial } = await serve({ limits: status === 408 ? soon : {} });
  const wire = await dial();
  wire.send(text);
  const response = await wire.response();
  expect(response.status).toBe(status);
  for (const operation of operations) {
    // Whether it was HEAD cannot be known: the body is there in any case.
    const body = operation.startsWith("HEAD") ? "" : response.body;
    expect([operation, undeclared(operation, { ...response, body })]).toEqual([operation, ""]);
  }
});

test("a page with more to come, and pets at the ends of int64, are declared", async () => {
  const { call, create } = await serve();
  await create('{"name":"","categoryId":9223372036854775807,"status":"sold"}');
  await create('{"name":"\\"","categoryId":-9223372036854775808,"status":"pending","id":5}');
  for (const path of ["/v1/pets?limit=1", "/v1/pets?limit=1&status=sold", "/v1/pets?after=1"]) {
    const response = await call({ path });
    expect([response.status, undeclared("GET /pets", response)]).toEqual([200, ""]);
  }
});

/** The body that the document shows for a code. */
function exampleOf(operation: Operation, code: string): string {
  const path = operation.slice(operation.indexOf(" ") + 1) as "/pets";
  const { get, post: create } = openApiDocument.paths[path];
  const { responses } = operation.startsWith("POST") ? create : get;
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
  return listen(createPetStoreServer({ ...made.store, as }), made.key);
}

function failing(): Storage {
  const storage = createMemoryStorage();
  const fail = () => Promise.resolve(err(storageFailure("disk full")));
  return { ...storage, pets: { ...storage.pets, create: fail, find: fail, list: fail } };
}
