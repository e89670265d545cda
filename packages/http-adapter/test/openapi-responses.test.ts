import { expect, test } from "vitest";
import { responsesOf, undeclared } from "./support/openapi.js";
import { operations, type Operation } from "./support/operations.js";
import { failing, HURRIED, PET, serve, type Call, type Listening } from "./support/serve.js";

const post = (body: string, ...headers: string[]): Call => ({ method: "POST", body, headers });

function callOf(operation: Operation): Call {
  const [method = "", path = ""] = operation.split(" ");
  const target = { method, path: `/v1${path.replace("{petId}", "1")}` };
  return method === "POST" ? { ...post(PET), ...target } : target;
}

const ELSEWHERE =
  "some none created found request_timeout headers_too_large idempotency_key_reused".split(" ");

test("responses with every optional header, and pets at the ends of int64, are declared, and each example is tried", async () => {
  const { call } = await serve();
  for (const operation of operations) {
    const response = await call(callOf(operation));
    expect([operation, undeclared(operation, response)]).toEqual([operation, ""]);
    expect(response.status).toBeLessThan(300);
    const rows = errors.filter(([, , , of]) => operation.endsWith(of ?? ""));
    const tried = new Set([...ELSEWHERE, ...rows.map(([code]) => code)]);
    expect([...examplesOf(operation).keys()].filter((name) => !tried.has(name))).toEqual([]);
  }
  const all = operations.flatMap((operation) => [...examplesOf(operation).keys()]);
  expect(new Set(all)).toEqual(new Set([...ELSEWHERE, ...errors.map(([code]) => code)]));
  for (const [operation, status, sent] of [
    ["POST /pets", 415, post(PET, "Content-Encoding: gzip")],
    ["POST /pets", 201, post(PET, "Idempotency-Key: a")],
    ["POST /pets", 201, post(PET, "Idempotency-Key: a")],
    ["POST /pets", 422, post(PET.replace("1", "2"), "Idempotency-Key: a")],
    ["POST /pets", 201, post('{"name":"","categoryId":9223372036854775807,"status":"sold"}')],
    ["POST /pets", 201, post('{"name":"\\"","categoryId":-9223372036854775808,"id":5}')],
    ["GET /pets", 200, { path: "/v1/pets?limit=1" }],
    ["GET /pets", 200, { path: "/v1/pets?limit=1&status=sold" }],
  ] as const) {
    const response = await call(sent);
    expect([sent, response.status, undeclared(operation, response)]).toEqual([sent, status, ""]);
  }
});

type Row = [code: string, start: () => Promise<Listening>, sent?: Call, of?: string];

/** Every error: the server, what differs from a good request, and how the operations end that respond with it, if not all. */
const errors: readonly Row[] = [
  ["bad_request", serve, { headers: ["Host: twice.test"] }],
  ["missing_api_key", serve, { key: null }],
  ["invalid_api_key", serve, { key: "made-up" }],
  ["expectation_failed", serve, { headers: ["Expect: cake"] }],
  ["rate_limit_exceeded", () => serveSpent(60)],
  ["api_key_banned", () => serveSpent(121)],
  ["internal_error", () => serve({ clientAddress: () => expect.fail("a bug") })],
  ["storage_unavailable", () => serve({ store: { storage: failing("pets") } })],
  ["store_closed", serveClosed],
  ["invalid_query", serve, { path: "/v1/pets?limit=0" }, "GET /pets"],
  ["malformed_json", serve, post("{"), "POST /pets"],
  ["invalid_pet", serve, post('{"name":"Rex"}'), "POST /pets"],
  ["payload_too_large", serve, post(" ".repeat(65_537)), "POST /pets"],
  ["unsupported_media_type", serve, post(PET, "Content-Type: text/plain"), "POST /pets"],
  ["invalid_idempotency_key", serve, post(PET, "Idempotency-Key: ,"), "POST /pets"],
  ["pet_not_found", serve, { path: "/v1/pets/2" }, " /pets/{petId}"],
];

test.each(errors)("%s is declared, with its example", async (code, start, sent, of) => {
  const { call } = await start();
  for (const operation of operations.filter((each) => each.endsWith(of ?? ""))) {
    const response = await call({ ...callOf(operation), ...sent });
    if (!operation.startsWith("HEAD"))
      expect(response.body).toBe(JSON.stringify(examplesOf(operation).get(code)));
    expect([operation, undeclared(operation, response)]).toEqual([operation, ""]);
    expect(response.status).toBeGreaterThanOrEqual(400);
  }
});

test.each<[status: number, text: string]>([
  [400, "GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"],
  [408, "GET /v1/pets HTTP/1.1\r\nHost: a\r\n"],
  [431, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}`],
])("%i is declared for every operation, where the message cannot be read", async (status, text) => {
  const { dial } = await serve({ limits: status === 408 ? HURRIED : {} });
  const response = await (await dial(text)).response();
  expect(response.status).toBe(status);
  for (const operation of operations) {
    // Whether it was HEAD cannot be known: the body is there in any case.
    const body = operation.startsWith("HEAD") ? "" : response.body;
    expect([operation, undeclared(operation, { ...response, body })]).toEqual([operation, ""]);
  }
});

function examplesOf(operation: Operation): ReadonlyMap<string, unknown> {
  const examples = Object.values(responsesOf(operation)).flatMap(({ content }) =>
    Object.entries<{ readonly value: unknown }>({ ...content?.["application/json"]?.examples }),
  );
  return new Map(examples.map(([name, { value }]) => [name, value]));
}

async function serveSpent(requests: number): Promise<Listening> {
  const served = await serve({ store: { ban: { graceSeconds: 0 } } });
  for (let sent = 0; sent < requests; sent += 1) await served.store.as(served.key).admit();
  return served;
}

async function serveClosed(): Promise<Listening> {
  const served = await serve();
  await served.store.close();
  return served;
}
