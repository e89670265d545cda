import { expect, test } from "vitest";
import { methodsOf } from "./support/operations.js";
import { serve, serveHandler, type Call } from "./support/serve.js";
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
    "access-control-allow-methods": methodsOf(),
    "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
    "access-control-max-age": "86400",
    vary: "Origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-ratelimit-remaining": "60",
  });
  expect([body, (await call()).headers["x-ratelimit-remaining"]]).toEqual(["", "59"]);
});

test("without OPTIONS, an Origin and a requested method, a request is no preflight", async () => {
  const { call, key } = await serve({ cors: listed });
  const asked = preflight(SHOP);
  const headers = asked.headers.slice(0, 1);
  for (const what of [{ method: "GET" }, { headers: asked.headers.slice(1) }, { headers }])
    expect((await call({ ...asked, ...what })).status).toBe(401);
  expect((await call({ ...asked, headers, key })).status).toBe(405);
});

const OTHERS = /^(?:access-control-|vary|content-|cache-control|connection|keep-alive|x-content-)/;

test("every response to an allowed origin can be read with every header for clients, errors too", async () => {
  const { call, key } = await serve({ cors: listed });
  const headers = [`Origin: ${SHOP}`];
  const paths = ["/v1/pets", "/v1/nothing", "/v1/pets?limit=0"];
  const asked = paths.map((path): Call => ({ path, headers }));
  asked.push({ headers, key: `${key}x` }, { headers: [...headers, "Host: two"] });
  const responses = await Promise.all(asked.map(call));
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 400, 401, 400]);
  for (const response of responses) {
    expect(response.headers).toMatchObject({ "access-control-allow-origin": SHOP, vary: "Origin" });
    const exposed = response.headers["access-control-expose-headers"] ?? "";
    const told = Object.keys(response.headers).filter((name) => !OTHERS.test(name));
    expect(exposed.toLowerCase().split(", ")).toEqual(expect.arrayContaining(told));
    expect(exposed).toBe(
      "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, " +
        "Link, Location, Date, Deprecation, Sunset, WWW-Authenticate, X-Request-Id, Idempotent-Replayed",
    );
  }
});

const LONG = `X-Long: ${"x".repeat(20_000)}`;
const ORIGIN = `Origin: ${SHOP}`;
const message = (...lines: readonly string[]): string =>
  ["GET / HTTP/1.1", ...lines, "\r\n"].join("\r\n");

test.each<[what: string, cors: CorsOptions, bytes: string, allowed: string | undefined]>([
  ["a broken line", listed, message("\x01", ORIGIN), SHOP],
  ["long headers", listed, message(`origin:${SHOP} `, LONG), SHOP],
  ["another origin", listed, message("Origin: null", "\x01"), undefined],
  ["two origins", listed, message("Origin: a", ORIGIN, "\x01"), undefined],
  ["no line", listed, message("\x01"), undefined],
  ["no line, and one origin", { origins: [SHOP] }, message("\x01"), SHOP],
  ["no line, and all", { origins: "*" }, "\x01\r\n\r\n", "*"],
  ["a second message", listed, message("Host: a", ORIGIN) + "\x01\r\n\r\n", undefined],
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
  const { call } = await serveHandler(
    (handle) => (request, response) =>
      handle(request, response.setHeader("Vary", "Accept-Encoding")),
    { cors: listed },
  );
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
