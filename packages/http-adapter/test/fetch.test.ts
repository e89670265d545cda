import { createFetchHandler, type FetchOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { makeStore } from "./support/serve.js";

test.each([
  [401, { authorization: "Bearer a, Bearer b" }, "/v1/pets"],
  [404, {}, "/"],
  [404, {}, "/V1/pets"],
])("%i for %j %s", async (status, headers, path) => {
  const { handle } = await fetchHandler();
  const response = await handle(request(path, headers));
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ status });
  expect(response.headers.get("x-ratelimit-limit")).toBe("60");
});

test("a fragment is not part of a request", async () => {
  const { handle, authorization } = await fetchHandler();
  const response = await handle(request("/v1/pets?limit=1#limit=x", { authorization }));
  expect(response.status).toBe(200);
});

test("a body that the host is reading is 400", async () => {
  const { handle, authorization } = await fetchHandler();
  const taken = request("/v1/pets", { method: "POST", body: "{}", authorization });
  taken.body?.getReader();
  const response = await handle(taken);
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining("The host"),
  ]);
});

test("a body is cut at the limit, declared or not", async () => {
  const { handle, authorization } = await fetchHandler({ maxBodyBytes: 10 });
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(8));
    },
  });
  const endless = new Request("http://a/v1/pets", {
    method: "POST",
    body,
    duplex: "half",
    headers: { authorization },
  });
  expect((await handle(endless)).status).toBe(413);
  expect(pulled).toBeLessThan(10);
});

test("a body that takes too long is 408, and its source is cancelled", async () => {
  const { handle, authorization } = await fetchHandler({ maxBodySeconds: 0.02 });
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const init = { method: "POST", body, duplex: "half" as const, headers: { authorization } };
  const response = await handle(new Request("http://a/v1/pets", init));
  expect(response.status).toBe(408);
  expect(await response.json()).toMatchObject({ code: "request_timeout", status: 408 });
  expect(isCancelled).toBe(true);
});

test("a body that the host has read, or that breaks, is 400", async () => {
  const { handle, authorization } = await fetchHandler();
  const read = request("/v1/pets", { method: "POST", body: "{}", authorization });
  await read.text();
  expect((await handle(read)).status).toBe(400);
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
  const init = {
    method: "POST",
    body: broken,
    duplex: "half" as const,
    headers: { authorization },
  };
  expect((await handle(new Request("http://a/v1/pets", init))).status).toBe(400);
});

test("the origin function gets the host's other arguments", async () => {
  const { store } = await makeStore();
  const handle = createFetchHandler(store, {
    origin: (_, address: string, { isTrusted }: { isTrusted: boolean }) =>
      isTrusted ? address : undefined,
  });
  await handle(request("/v1/pets", {}), "192.0.2.1", { isTrusted: true });
  const other = await handle(request("/v1/pets", {}), "192.0.2.2", { isTrusted: true });
  expect(other.headers.get("x-ratelimit-remaining")).toBe("59");
  expect(store.anonymousQuota("192.0.2.1").remaining).toBe(59);
});

test.each([
  ["Host", "a, a"],
  ["Host", "a/b"],
  ["Transfer-Encoding", "gzip, chunked"],
])("what shows that the message was no good (%s: %s) is 400", async (name, value) => {
  const { handle, authorization } = await fetchHandler();
  const response = await handle(request("/v1/pets", { [name]: value, authorization }));
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({ code: "bad_request" }),
  ]);
});

async function fetchHandler(options: FetchOptions = {}) {
  const { store, key } = await makeStore();
  return { handle: createFetchHandler(store, options), authorization: `Bearer ${key}` };
}

function request(
  path: string,
  { method = "GET", body, ...headers }: Record<string, string>,
): Request {
  return new Request(`http://pets.test${path}`, {
    method,
    headers,
    // As bytes: a string would declare itself text/plain.
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
}
