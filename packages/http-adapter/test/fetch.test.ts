import { createFetchHandler, type FetchOptions } from "@petstore/http-adapter";
import { expect, test, vi } from "vitest";
import { fakeTimers, hostTimers } from "../../../scripts/fake-timers.js";
import { makeStore } from "./support/serve.js";

test.each([
  [401, "missing_api_key", "/v1/pets", { authorization: "" }],
  [401, "invalid_api_key", "/v1/pets", { authorization: "Bearer a, Bearer b" }],
  [404, "not_found", "/", {}],
  [404, "not_found", "/V1/pets", {}],
  [400, "bad_request", "/v1/pets", { host: "a, a" }],
  [400, "bad_request", "/v1/pets", { host: "a/b" }],
  [400, "bad_request", "/v1/pets", { "transfer-encoding": "chunked, gzip" }],
])("%i %s: %s with %j", async (status, code, path, headers) => {
  const { send } = await fetchHandler();
  const response = await send({ headers }, path);
  expect(await response.json()).toMatchObject({ status, code });
  expect([response.status, response.headers.get("x-ratelimit-limit")]).toEqual([status, "60"]);
});

test("a response to HEAD has no body, and a fragment is not part of a request", async () => {
  const { send } = await fetchHandler();
  const response = await send({ method: "HEAD" }, "/v1/pets?limit=1#limit=x");
  expect([response.status, response.headers.get("content-length")]).toEqual([200, "2"]);
  expect(response.body).toBeNull();
});

test("a body that the host has read or is reading, or that breaks, is 400", async () => {
  const { handle, requestOf, send } = await fetchHandler();
  const taken = requestOf(post("{}"));
  taken.body?.getReader();
  const read = requestOf(post("{}"));
  await read.text();
  for (const request of [taken, read]) {
    const response = await handle(request);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The host");
  }
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
  expect((await send(post(broken))).status).toBe(400);
});

test("a body is cut at the limit, although its length is not declared", async () => {
  const { send } = await fetchHandler({ maxBodyBytes: 10 });
  let pulled = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    pulled += 1;
    controller.enqueue(new Uint8Array(8));
  };
  expect((await send(post(new ReadableStream({ pull })))).status).toBe(413);
  expect(pulled).toBeLessThan(10);
});

test("a body that has arrived leaves no timer behind", async () => {
  const { send } = await fetchHandler();
  fakeTimers("setTimeout", "clearTimeout");
  expect((await send(post('{"name":"Rex","categoryId":7}'))).status).toBe(201);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["nothing", 0],
  ["empty chunks", 2e6],
])("a body that has %s for too long is 408, and its source is cancelled", async (_, chunks) => {
  const { send } = await fetchHandler({ maxBodySeconds: 0.02 });
  hostTimers();
  let [left, isCancelled] = [chunks, false];
  const body = new ReadableStream<Uint8Array>({
    cancel: () => void (isCancelled = true),
    pull: (stream) => {
      if ((left -= 1) > 0) stream.enqueue(new Uint8Array());
    },
  });
  const response = await send(post(body));
  expect(response.status).toBe(408);
  expect(await response.json()).toMatchObject({ code: "request_timeout", status: 408 });
  expect([isCancelled, left > chunks - 1e6]).toEqual([true, true]);
});

interface Sent extends Pick<RequestInit, "method" | "body"> {
  readonly headers?: Readonly<Record<string, string>>;
}

const post = (body: string | ReadableStream): Sent => ({ method: "POST", body });

async function fetchHandler(options: FetchOptions = {}) {
  const { store, key } = await makeStore();
  const handle = createFetchHandler(store, options);
  const requestOf = ({ headers, ...sent }: Sent, path = "/v1/pets"): Request => {
    const type = "application/json";
    const all = { authorization: `Bearer ${key}`, "content-type": type, ...headers };
    return new Request(`http://pets.test${path}`, { ...sent, headers: all, duplex: "half" });
  };
  const send = (sent: Sent, path?: string) => handle(requestOf(sent, path));
  return { handle, requestOf, send };
}
