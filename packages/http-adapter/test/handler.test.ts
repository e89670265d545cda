import { once } from "node:events";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createNodeHandler, createPetStoreServer, type NodeOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, listen, makeStore, type Served } from "./support/serve.js";

test("as the listener of a server it responds to everything: elsewhere with 404", async () => {
  const { call } = await listenWith((handle) => handle);
  expect((await call()).status).toBe(200);
  const elsewhere = await call({ path: "/" });
  expect(elsewhere.status).toBe(404);
  expect(elsewhere.body).toContain('"not_found"');
  // The first check is the message's own syntax, as on a server of ours.
  expect((await call({ path: "/", headers: ["Host: b"] })).status).toBe(400);
});

test("as the fallback of a server of ours it serves a second store", async () => {
  const second = await makeStore();
  const { store, key } = await makeStore();
  const fallback = createNodeHandler(second.store, { basePath: "/v2" });
  const { call } = await listen(createPetStoreServer(store, { fallback }), key);
  expect((await call({ path: "/v2/pets", key: second.key })).status).toBe(200);
  expect((await call({ path: "/" })).status).toBe(404);
});

test('with the base path "" everything that arrives is below it', async () => {
  const { call } = await listenWith((handle) => handle, { basePath: "" });
  expect((await call({ path: "/pets" })).status).toBe(200);
  expect((await call({ path: "/" })).status).toBe(404);
  expect((await call({ path: "//evil/pets" })).status).toBe(404);
  expect((await call({ path: "/", key: null })).status).toBe(401);
});

test("a request of HTTP/2 is refused with an error that says so", async () => {
  const { store } = await makeStore();
  const handle = createNodeHandler(store);
  const errors: unknown[] = [];
  const server = createHttp2Server((request, response) => {
    try {
      handle(request as never, response as never);
    } catch (error) {
      errors.push(error);
      response.end();
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stream = client.request({ ":path": "/v1/pets" });
  await once(stream.resume(), "end");
  client.close();
  server.close();
  expect(errors).toEqual([
    expect.objectContaining({ message: expect.stringContaining("HTTP/2") as string }),
  ]);
});

test("the body is read even if the host has paused the request", async () => {
  let wake: () => void = () => undefined;
  const { dial, key } = await listenWith((handle) => (request, response) => {
    request.pause();
    setImmediate(() => {
      handle(request, response);
      setImmediate(wake);
    });
  });
  const body = '{"name":"Ærø","categoryId":1}';
  for (const cut of [0, 12, body.length]) {
    const handled = new Promise<void>((resolve) => (wake = resolve));
    const wire = await dial();
    wire.send(compose({ method: "POST", key, body }) + body.slice(0, cut));
    await handled;
    wire.send(body.slice(cut));
    const response = await wire.response();
    expect([response.status, response.body]).toEqual([201, expect.stringContaining('"Ærø"')]);
    wire.socket.destroy();
  }
});

test("after setEncoding by the host, the bytes are lost: a reported error", async () => {
  const causes: unknown[] = [];
  const onError = (cause: unknown): void => void causes.push(cause);
  const { call } = await listenWith(
    (handle) => (request, response) => handle(request.setEncoding("utf8"), response),
    { onError },
  );
  const headers = { "x-ratelimit-remaining": "59" };
  expect(await call({ method: "POST", body: "{}" })).toMatchObject({ status: 500, headers });
  expect(causes).toEqual([expect.any(TypeError)]);
});

type Handle = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

async function listenWith(
  host: (handle: Handle) => (request: IncomingMessage, response: ServerResponse) => void,
  options: NodeOptions = {},
): Promise<Pick<Served, "call" | "dial"> & { readonly key: string }> {
  const { store, key } = await makeStore();
  return { key, ...(await listen(createServer(host(createNodeHandler(store, options))), key)) };
}
