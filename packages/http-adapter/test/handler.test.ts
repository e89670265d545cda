import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createNodeHandler, type NodeOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { listen, makeStore, type Served } from "./support/serve.js";

test("as the listener of a server it answers everything: elsewhere is 404", async () => {
  const { call } = await listenWith((handle) => handle);
  expect((await call()).status).toBe(200);
  const elsewhere = await call({ path: "/" });
  expect(elsewhere.status).toBe(404);
  expect(elsewhere.body).toContain('"not_found"');
});

test("as a middleware it calls next for what is elsewhere, and only then", async () => {
  const { call } = await listenWith((handle) => (request, response) => {
    handle(request, response, () => response.end("next"));
  });
  expect((await call()).body).toBe("[]");
  expect((await call({ path: "/v1/dogs" })).status).toBe(404);
  expect((await call({ path: "/" })).body).toBe("next");
  expect((await call({ path: "//evil/v1/pets" })).body).toBe("next");
});

test("below a router it routes on what the router left, and Location is what the client sees", async () => {
  const { call } = await listenWith((handle) => (request, response) => {
    const originalUrl = request.url ?? "";
    Object.assign(request, { originalUrl, url: originalUrl.replace("/api", "") });
    handle(request, response);
  });
  const body = '{"name":"Rex","categoryId":1}';
  const { status, headers } = await call({ method: "POST", path: "/api/v1/pets?x", body });
  expect([status, headers["location"]]).toEqual([201, "/api/v1/pets/1"]);
  expect((await call({ path: headers["location"] ?? "" })).status).toBe(200);
});

test('with the base path "" everything that arrives is below it', async () => {
  const { call } = await listenWith((handle) => handle, { basePath: "" });
  expect((await call({ path: "/pets" })).status).toBe(200);
  expect((await call({ path: "/" })).status).toBe(404);
  expect((await call({ path: "//evil/pets" })).status).toBe(404);
  expect((await call({ path: "/", key: null })).status).toBe(401);
});

test("a host's X-Powered-By does not stand on the store's answers", async () => {
  const { call } = await listenWith((handle) => (request, response) => {
    response.setHeader("X-Powered-By", "Express");
    response.setHeader("X-Host", "kept");
    handle(request, response);
  });
  const { headers } = await call();
  expect(headers).not.toHaveProperty("x-powered-by");
  expect(headers).toMatchObject({ "x-host": "kept", "x-ratelimit-remaining": "59" });
});

type Handle = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

async function listenWith(
  host: (handle: Handle) => (request: IncomingMessage, response: ServerResponse) => void,
  options: NodeOptions = {},
): Promise<Pick<Served, "call">> {
  const { store, key } = await makeStore();
  return listen(createServer(host(createNodeHandler(store, options))), key);
}
