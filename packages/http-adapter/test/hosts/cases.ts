import { once } from "node:events";
import { METHODS } from "node:http";
import { expect } from "vitest";
import { petOf } from "../support/pet.js";
import { compose, issue } from "../support/serve.js";
import type { Bench } from "./bench.js";

/** Cases that hold in every host. */
export const cases = {
  "200: an empty list, with all three rate limit headers": async ({ call, clock }) => {
    const { status, headers, body } = await call();
    expect([status, body]).toEqual([200, "[]"]);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": "2",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "59",
      "x-ratelimit-reset": String(Math.ceil((clock.now() + 60_000) / 1_000)),
    });
    expect(headers).not.toHaveProperty("x-powered-by");
  },

  "201: Location names the new pet below the whole base path": async ({
    call,
    create,
    basePath,
  }) => {
    const { status, headers, body } = await create('{"name":"Æ","categoryId":7}');
    expect([status, headers["location"]]).toEqual([201, `${basePath}/pets/1`]);
    expect(body).toBe('{"id":1,"name":"Æ","categoryId":7,"status":"available"}');
    expect((await call({ path: headers["location"] ?? "" })).body).toBe(body);
  },

  "201: int64 is exact at both ends": async ({ call, create }) => {
    for (const digits of ["9223372036854775807", "-9223372036854775808", "9007199254740993"]) {
      const { status, body } = await create(`{"name":"Rex","categoryId":${digits}}`);
      expect([status, body]).toEqual([201, expect.stringContaining(`"categoryId":${digits},`)]);
    }
    expect((await call()).body).toContain('"categoryId":9223372036854775807,');
  },

  "201: a body without a media type is JSON": async ({ create }) => {
    expect((await create('{"name":"Rex","categoryId":7}', [])).status).toBe(201);
  },

  "200: Link leads to the next page": async ({ call, create, basePath }) => {
    for (const name of ["Rex", "Tom"]) await create(`{"name":"${name}","categoryId":1}`);
    const { headers } = await call({ path: `${basePath}/pets?limit=1` });
    expect(headers["link"]).toBe('<?limit=1&after=1>; rel="next"');
    const next = new URL("?limit=1&after=1", `http://pets.test${basePath}/pets?limit=1`);
    expect((await call({ path: next.pathname + next.search })).body).toContain('"name":"Tom"');
  },

  "200: getPet says that it is deprecated, and what replaces it": async ({
    call,
    create,
    basePath,
  }) => {
    await create('{"name":"Rex","categoryId":7}');
    const { status, headers } = await call({ path: `${basePath}/pets/1` });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d+$/) as unknown,
      sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
      link: '<../pets>; rel="successor-version"',
    });
  },

  "HEAD: the headers of GET, and no body": async ({ call }) => {
    const head = await call({ method: "HEAD" });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers).toMatchObject({ "content-length": "2", "x-ratelimit-remaining": "59" });
  },

  "HEAD: nothing follows the headers on the wire": async ({ dial, key, basePath }) => {
    const wire = await dial();
    wire.send(compose({ key, path: `${basePath}/pets`, method: "HEAD", headers: [CLOSE] }));
    expect((await wire.rest()).endsWith("\r\n\r\n")).toBe(true);
  },

  "400: a query out of bounds": async ({ call, basePath }) => {
    for (const query of ["limit=0", "limit=1e1", "status=gone", "limit=1&limit=2", "after=x"]) {
      expectError(await call({ path: `${basePath}/pets?${query}` }), 400, "invalid_query");
    }
  },

  "400: a body that is no JSON": async ({ create }) => {
    expectError(await create('{"name":'), 400, "malformed_json");
  },

  "400: a pet with missing or wrong fields": async ({ create }) => {
    expectError(await create('{"name":7}'), 400, "invalid_pet");
    expectError(await create('{"__proto__":{"name":"x","categoryId":1}}'), 400, "invalid_pet");
  },

  "400: a number beyond int64": async ({ create }) => {
    expectError(await create('{"name":"x","categoryId":9223372036854775808}'), 400, "invalid_pet");
  },

  "401: no key, or a wrong one, before anything else is known": async ({ call, basePath }) => {
    const missing = await call({ key: null });
    expectError(missing, 401, "missing_api_key");
    expect(missing.headers["www-authenticate"]).toBe('Bearer realm="petstore"');
    const wrong = await call({ key: "pet_live_x", path: `${basePath}/nowhere`, method: "DELETE" });
    expectError(wrong, 401, "invalid_api_key");
    expect(wrong.headers["www-authenticate"]).toBe(
      'Bearer realm="petstore", error="invalid_token"',
    );
  },

  "404: nothing is there, below the base path": async ({ call, basePath }) => {
    for (const path of ["", "/", "/dogs", "/pets/", "/PETS", "//pets", "/pets/1/x", "/pets;x"]) {
      expectError(await call({ path: basePath + path }), 404, "not_found");
    }
    expectError(await call({ path: `${basePath}/dogs`, method: "DELETE" }), 404, "not_found");
  },

  "404: what is no canonical int64 names no pet": async ({ call, create, basePath }) => {
    await create('{"name":"Rex","categoryId":7}');
    for (const id of ["2", "01", "1.0", "%31", "x", "9".repeat(300)]) {
      expectError(await call({ path: `${basePath}/pets/${id}` }), 404, "pet_not_found");
    }
  },

  "404: a target that cannot be decoded is still the store's": async ({ call, basePath }) => {
    expectError(await call({ path: `${basePath}/pets/%zz` }), 404, "pet_not_found");
    expectError(await call({ path: `${basePath}/%ff`, key: null }), 401, "missing_api_key");
  },

  "404: dot segments are not resolved": async ({ call, basePath }) => {
    expectError(await call({ path: `${basePath}/%2e%2e/x/pets` }), 404, "not_found");
    expectError(await call({ path: `${basePath}/x/../pets` }), 404, "not_found");
  },

  "405: with what the path allows": async ({ call, basePath }) => {
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await call({ method });
      expectError(response, 405, "method_not_allowed");
      expect(response.headers["allow"]).toBe("GET, HEAD, POST");
    }
    const response = await call({ method: "POST", path: `${basePath}/pets/1` });
    expectError(response, 405, "method_not_allowed");
    expect(response.headers["allow"]).toBe("GET, HEAD");
  },

  "405: also for methods that few have heard of": async ({ call }) => {
    // Older releases of Node 20 do not know QUERY.
    for (const method of ["PROPFIND", "PURGE", "QUERY"].filter((each) => METHODS.includes(each))) {
      expectError(await call({ method }), 405, "method_not_allowed");
    }
  },

  "413: a declared length over the limit": async ({ create }) => {
    expectError(await create(petOf(65_537)), 413, "payload_too_large");
  },

  "413: a chunked body over the limit": async ({ dial, key, basePath }) => {
    const wire = await dial();
    const headers = ["Transfer-Encoding: chunked", "Content-Type: application/json"];
    wire.send(compose({ key, path: `${basePath}/pets`, method: "POST", headers }));
    wire.send(`14000\r\n${petOf(0x14000)}\r\n0\r\n\r\n`);
    expectError(await wire.response(), 413, "payload_too_large");
    wire.socket.destroy();
  },

  "415: other media types, charsets and codings": async ({ create }) => {
    for (const header of [
      "Content-Type: text/plain",
      "Content-Type: not a type",
      "Content-Type: application/json; charset=utf-16",
      "Content-Encoding: gzip",
    ]) {
      expectError(await create("{}", [header]), 415, "unsupported_media_type");
    }
  },

  "429: a limit is used up; served again after exactly Retry-After": async ({
    store,
    clock,
    call,
  }) => {
    const key = await issue(store, { perMinute: 1, perDay: 9 });
    expect((await call({ key })).status).toBe(200);
    const { headers, ...response } = await call({ key });
    expectError({ headers, ...response }, 429, "rate_limit_exceeded");
    expect(headers).toMatchObject({ "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0" });
    clock.advance(Number(headers["retry-after"]) * 1_000);
    expect((await call({ key })).status).toBe(200);
  },

  "431: more header lines than Node keeps, whoever refuses them": async ({
    dial,
    key,
    basePath,
  }) => {
    const wire = await dial();
    const headers = Array.from({ length: 3_000 }, () => "a:");
    wire.send(compose({ key, path: `${basePath}/pets`, headers }));
    expect((await wire.response()).status).toBe(431);
    expect(await wire.rest()).toBe("");
  },

  "503: the store is closed": async ({ store, call }) => {
    await store.close();
    const response = await call();
    expectError(response, 503, "store_closed");
    expect(response.headers["retry-after"]).toBe("1");
  },

  "X-Forwarded-For is not read by default": async ({ call }) => {
    await call({ key: null, headers: ["X-Forwarded-For: 192.0.2.1"] });
    const { headers } = await call({ key: null, headers: ["X-Forwarded-For: 192.0.2.2"] });
    expect(headers["x-ratelimit-remaining"]).toBe("58");
  },

  "a body that comes in pieces": async ({ dial, key, basePath }) => {
    const wire = await dial();
    const headers = ["Transfer-Encoding: chunked", "Content-Type: application/json"];
    wire.send(compose({ key, path: `${basePath}/pets`, method: "POST", headers }));
    for (const piece of ['{"name":"', 'Rex","cate', 'goryId":7}']) {
      wire.send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await new Promise(setImmediate);
    }
    wire.send("0\r\n\r\n");
    expect((await wire.response()).status).toBe(201);
    wire.socket.destroy();
  },

  "an aborted upload adds no pet, and other requests are served": async ({
    dial,
    key,
    call,
    basePath,
  }) => {
    for (const framing of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
      const wire = await dial();
      const headers = [framing, "Content-Type: application/json"];
      wire.send(compose({ key, path: `${basePath}/pets`, method: "POST", headers }));
      wire.send('5\r\n{"nam\r\n');
      const closed = once(wire.socket, "close");
      wire.socket.destroy();
      await closed;
    }
    expect(await call()).toMatchObject({ status: 200, body: "[]" });
  },

  "one connection carries many requests, also after unread bodies": async ({
    dial,
    key,
    basePath,
  }) => {
    const wire = await dial();
    const send = async (what: Parameters<typeof compose>[0]): Promise<number> => {
      wire.send(compose({ key, path: `${basePath}/pets`, ...what }));
      if (what.body !== undefined) wire.send(what.body);
      return (await wire.response(what.method)).status;
    };
    expect(await send({})).toBe(200);
    expect(await send({ method: "POST", body: "GET / HTTP/1.1\r\n\r\n", key: null })).toBe(401);
    expect(await send({ method: "POST", body: "GET / HTTP/1.1\r\n\r\n" })).toBe(400);
    expect(await send({ method: "DELETE", body: "x" })).toBe(405);
    expect(await send({ method: "HEAD" })).toBe(200);
    expect(await send({ method: "POST", body: '{"name":"Rex","categoryId":7}' })).toBe(201);
    expect(await send({ path: "/hello" })).toBe(200);
    wire.socket.destroy();
  },

  "pipelined requests get their responses in order": async ({ dial, key, basePath }) => {
    const wire = await dial();
    const path = `${basePath}/pets`;
    const body = '{"name":"Rex","categoryId":7}';
    wire.send(compose({ key, path, method: "POST", body }) + body + compose({ key, path }));
    wire.send(compose({ key, path, method: "DELETE" }));
    const responses = [await wire.response(), await wire.response(), await wire.response()];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 405]);
    wire.socket.destroy();
  },

  "100 Continue comes after the checks, or not at all": async ({ dial, key, basePath }) => {
    const refused = await dial();
    const path = `${basePath}/pets`;
    const headers = ["Content-Length: 29", "Expect: 100-continue"];
    refused.send(compose({ path, method: "POST", headers }));
    expect((await refused.response()).status).toBe(401);
    refused.socket.destroy();
    const admitted = await dial();
    admitted.send(compose({ key, path, method: "POST", headers }));
    expect((await admitted.response()).status).toBe(100);
    admitted.send('{"name":"Rex","categoryId":7}');
    expect((await admitted.response()).status).toBe(201);
    admitted.socket.destroy();
  },

  "417: an unknown expectation": async ({ call }) => {
    expectError(await call({ headers: ["Expect: miracles"] }), 417, "expectation_failed");
  },
} satisfies Record<string, (bench: Bench) => Promise<void>>;

/** The name of a case. */
export type CaseName = keyof typeof cases;

const CLOSE = "Connection: close";

function expectError(
  response: Awaited<ReturnType<Bench["call"]>>,
  status: number,
  code: string,
): void {
  const { "content-type": type, ...headers } = response.headers;
  expect([response.status, type, response.body]).toEqual([
    status,
    "application/json",
    expect.stringContaining(`"code":"${code}"`),
  ]);
  expect(JSON.parse(response.body)).toEqual({
    code,
    message: expect.any(String) as unknown,
    status,
  });
  for (const name of ["limit", "remaining", "reset"]) {
    expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  }
}
