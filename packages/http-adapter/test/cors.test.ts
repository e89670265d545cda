import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { serve, serveHandler } from "./support/serve.js";
import type { CorsOptions } from "../src/response/cors.js";

const SHOP = "https://shop.example";
const listed: CorsOptions = { origins: ["http://localhost:8080", SHOP] };
const preflight = (origin: string) => ({
  method: "OPTIONS",
  key: null,
  headers: [
    `Origin: ${origin}`,
    "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: authorization,content-type,idempotency-key",
  ],
});

test("a preflight is 204, costs nothing, and allows what the store supports", async () => {
  const { call } = await serve({ cors: listed });
  expect((await call(preflight(SHOP))).status).toBe(204);
  const { headers, body } = await call({ ...preflight(SHOP), path: "/v1/pets/7" });
  expect(headers).toMatchObject({
    "access-control-allow-origin": SHOP,
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
    "access-control-max-age": "86400",
    vary: "Origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-ratelimit-remaining": "60",
  });
  expect(body).toBe("");
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

test("without OPTIONS, an Origin and a requested method, a request is no preflight", async () => {
  const { call, key } = await serve({ cors: listed });
  const asked = preflight(SHOP);
  const statusOf = async (what: object) => (await call({ ...asked, ...what })).status;
  expect(await statusOf({ method: "GET" })).toBe(401);
  expect(await statusOf({ headers: asked.headers.slice(1) })).toBe(401);
  expect(await statusOf({ headers: asked.headers.slice(0, 1) })).toBe(401);
  expect(await statusOf({ headers: asked.headers.slice(0, 1), key })).toBe(405);
});

test("every response to an allowed origin can be read with every header for clients, errors too", async () => {
  const { call, key } = await serve({ cors: listed });
  const headers = [`Origin: ${SHOP}`];
  const paths = ["/v1/pets", "/v1/nothing", "/v1/pets?limit=0"];
  const responses = [
    ...(await Promise.all(paths.map((path) => call({ path, headers })))),
    await call({ headers, key: `${key}x` }),
    await call({ headers: [...headers, "Host: two"] }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 400, 401, 400]);
  for (const response of responses) {
    expect(response.headers).toMatchObject({ "access-control-allow-origin": SHOP, vary: "Origin" });
    const exposed = response.headers["access-control-expose-headers"] ?? "";
    const others =
      /^(?:access-control-|vary|content-|cache-control|connection|keep-alive|x-content-)/;
    const told = Object.keys(response.headers).filter((name) => !others.test(name));
    expect(exposed.toLowerCase().split(", ")).toEqual(expect.arrayContaining(told));
    expect(exposed).toBe(
      "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, " +
        "Retry-After, Link, Location, Date, Deprecation, Sunset, WWW-Authenticate, X-Request-Id, " +
        "Idempotent-Replayed",
    );
  }
});

const LONG = `X-Long: ${"x".repeat(20_000)}`;

test.each<[what: string, cors: CorsOptions, bytes: string, allowed: string | undefined]>([
  ["a broken line", listed, `GET / HTTP/1.1\r\n\x01\r\nOrigin: ${SHOP}\r\n\r\n`, SHOP],
  ["long headers", listed, `GET / HTTP/1.1\r\norigin:${SHOP} \r\n${LONG}\r\n\r\n`, SHOP],
  ["another origin", listed, "GET / HTTP/1.1\r\nOrigin: null\r\n\x01\r\n\r\n", undefined],
  [
    "two origins",
    listed,
    `GET / HTTP/1.1\r\nOrigin: a\r\nOrigin: ${SHOP}\r\n\x01\r\n\r\n`,
    undefined,
  ],
  ["no line", listed, "GET / HTTP/1.1\r\n\x01\r\n\r\n", undefined],
  ["no line, and one origin", { origins: [SHOP] }, "GET / HTTP/1.1\r\n\x01\r\n\r\n", SHOP],
  ["no line, and all", { origins: "*" }, "\x01\r\n\r\n", "*"],
  [
    "a second message",
    listed,
    `GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${SHOP}\r\n\r\n\x01\r\n\r\n`,
    undefined,
  ],
])("what the parser refuses can be read by its page: %s", async (_, cors, bytes, allowed) => {
  const { dial } = await serve({ cors });
  const wire = await dial(bytes);
  let response = await wire.response();
  if (bytes.split("\r\n\r\n").length > 2) response = await wire.response();
  expect([400, 431]).toContain(response.status);
  expect(response.headers["access-control-allow-origin"]).toBe(allowed);
  expect(response.headers).toHaveProperty("access-control-expose-headers");
});

test("another origin is not allowed, and the response varies by origin", async () => {
  const { call } = await serve({ cors: listed });
  const origins = ["https://evil.example", "https://shop.example.evil", "null"];
  for (const origin of [...origins, `${SHOP}\r\nOrigin: ${SHOP}`]) {
    for (const what of [preflight(origin), { headers: [`Origin: ${origin}`] }]) {
      const { headers } = await call(what);
      expect(headers).not.toHaveProperty("access-control-allow-origin");
      expect(headers["vary"]).toBe("Origin");
    }
  }
});

test("a host's own Vary is kept", async () => {
  const host =
    (handle: RequestListener): RequestListener =>
    (request, response) =>
      handle(request, response.setHeader("Vary", "Accept-Encoding"));
  const { call } = await serveHandler(host, { cors: listed });
  expect((await call()).headers["vary"]).toBe("Accept-Encoding, Origin");
});

test.each([
  ["with *, every origin may read, without Vary", { origins: "*" } as const, 204, "*"],
  ["CORS is off by default: OPTIONS is a method like others", undefined, 401, undefined],
])("%s", async (_, cors, status, allowed) => {
  const { call } = await serve({ cors });
  expect((await call(preflight(SHOP))).status).toBe(status);
  const { headers } = await call({ headers: [`Origin: ${SHOP}`] });
  expect([headers["access-control-allow-origin"], headers["vary"]]).toEqual([allowed, undefined]);
  expect(Object.keys(headers).join().includes("access-control")).toBe(cors !== undefined);
});
