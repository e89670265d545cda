import { createServer } from "node:http";
import { createNodeHandler, handleClientErrors, mount } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, listen, makeStore, serve } from "./support/serve.js";

const pet = '{"name":"Rex","categoryId":1}';

test("requests sent at once are answered in their order, bodies and all", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  const post = `${compose({ method: "POST", key, body: pet })}${pet}`;
  wire.send(
    post + compose({ key }) + post + compose({ key, path: "/v1/pets/2" }) + compose({ key: null }),
  );
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await wire.answer()).status);
  expect(statuses).toEqual([201, 200, 201, 200, 401]);
});

test("each of them costs one", async () => {
  const { dial, key, call } = await serve();
  const wire = await dial();
  wire.send(compose({ key }).repeat(10));
  for (let count = 0; count < 10; count += 1) await wire.answer();
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("49");
});

test("what follows an answer with Connection: close on its connection is no request, whoever would answer it", async () => {
  const { store, key } = await makeStore();
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end("host");
  });
  mount(server, store);
  mount(server, store, { basePath: "/v2" });
  const { dial } = await listen(server, key);
  const post = compose({ method: "POST", path: "/v2/pets", key, body: pet }) + pet;
  for (const next of [post, compose({ path: "/host" })]) {
    const wire = await dial();
    wire.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${next}`);
    expect((await wire.answer()).status).toBe(400);
    expect(await wire.rest()).toBe("");
  }
  expect(asked).toEqual([]);
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
});

test.each(["Expect: foo", "No-Host: a"])(
  "nor is it after handleClientErrors has refused what has %s",
  async (line) => {
    const { store, key } = await makeStore();
    const server = createServer(createNodeHandler(store));
    handleClientErrors(server, store);
    const { dial } = await listen(server, key);
    const wire = await dial();
    const first = `GET /v1/pets HTTP/1.1\r\n${line.startsWith("No") ? "" : "Host: a\r\n"}${line}\r\n\r\n`;
    wire.send(first + compose({ method: "POST", key, body: pet }) + pet);
    expect((await wire.answer()).headers["connection"]).toBe("close");
    expect(await wire.rest()).toBe("");
    expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
  },
);
