import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createPetStoreServer } from "@petstore/http-adapter";
import { compose, listen, makeStore } from "./support/serve.js";

test("requests that are under way or still arrive get responses with Connection: close", async () => {
  const { store, key } = await makeStore();
  let release: () => void = () => undefined;
  const server = createPetStoreServer(store, {
    fallback: (_, response) => (release = () => response.end("late")),
  });
  const { dial } = await listen(server, key);
  const [early, half, unused] = [await dial(), await dial(), await dial()];
  const asked = once(server, "request");
  early.send(compose({ path: "/" }));
  half.send(compose({ key }).slice(0, -2));
  await asked;
  const drained = server.drain(10_000);
  half.send("\r\n");
  const { status, headers } = await half.response();
  expect([status, headers["connection"]]).toEqual([200, "close"]);
  expect(await half.rest()).toBe("");
  // Only idle connections are closed meanwhile.
  expect(await unused.rest()).toBe("");
  release();
  expect(await early.rest()).toContain("late");
  await drained;
});

test("connections that stay idle are closed, those that were never used too", async () => {
  const { store, key } = await makeStore();
  const server = createPetStoreServer(store);
  const { dial } = await listen(server, key);
  const [unused, idle] = [await dial(), await dial()];
  idle.send(compose({ key }));
  expect((await idle.response()).headers["connection"]).not.toBe("close");
  // Longer than the test may take: the deadline does not close them.
  await server.drain(3_600_000);
  expect(await unused.rest()).toBe("");
  expect(await idle.rest()).toBe("");
});

test("a request that is never completed is told 408, as before", async () => {
  const { store, key } = await makeStore();
  const limits = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 };
  const server = createPetStoreServer(store, { limits });
  const { dial } = await listen(server, key);
  const half = await dial();
  const drained = server.drain(3_600_000);
  half.send(compose({ key }).slice(0, -2));
  expect((await half.response()).status).toBe(408);
  await drained;
});

test("connections that are still open at the deadline are cut", async () => {
  const { store, key } = await makeStore();
  const server = createPetStoreServer(store, { fallback: () => undefined });
  const { dial, port } = await listen(server, key);
  const asked = once(server, "connect");
  const stuck = await dial();
  stuck.send(`${compose({ path: "/" })}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
  const slow = await dial();
  slow.send(compose({ key }).slice(0, 20));
  await asked;
  await server.drain(50);
  expect(await stuck.rest()).toBe("");
  expect(await slow.rest()).toBe("");
  const late = connect(port, "127.0.0.1");
  const [error] = (await once(late, "error")) as [Error];
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});
