import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { compose, makeStore, serve } from "./support/serve.js";

test("each of the requests that are sent at once costs one", async () => {
  const { dial, key, call } = await serve();
  const wire = await dial();
  wire.send(compose({ key }).repeat(10));
  for (let count = 0; count < 10; count += 1) await wire.response();
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("49");
});

test("thousands of requests sent at once all get their responses, also long ones", async () => {
  const { dial, key } = await serve({
    fallback: (_, response) => response.end("x".repeat(20_000)),
  });
  const wire = await dial();
  const body = "x".repeat(5_000);
  for (let count = 0; count < 1_000; count += 1) {
    wire.send(compose({ key }) + compose({ path: "/" }));
    if (count % 100 === 0) wire.send(compose({ method: "POST", key, body }) + body);
  }
  for (let count = 0; count < 1_000; count += 1) {
    expect([200, 429]).toContain((await wire.response()).status);
    const { status, headers } = await wire.response();
    expect([status, headers["transfer-encoding"]]).toEqual([200, undefined]);
    if (count % 100 === 0) expect([400, 429]).toContain((await wire.response()).status);
  }
});

test("bytes after a response with Connection: close are not a request, neither for the store nor for the host", async () => {
  const { store, key } = await makeStore();
  const asked: unknown[] = [];
  const { dial } = await serve({
    fallback: ({ url }, response) => {
      asked.push(url);
      response.writeHead(405, { Connection: "close", "Content-Length": 0 }).end();
    },
  });
  const post = compose({ method: "POST", key, body: PET }) + PET;
  for (const first of [
    "GET /v1/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET /v1/pets HTTP/1.1\r\n\r\n",
    compose({ headers: ["Expect: foo"] }),
    compose({ headers: ["Expect: 100-continue"] }),
    compose({ path: "/docs", method: "DELETE" }),
  ]) {
    const wire = await dial();
    wire.send(first + post + compose({ path: "/host" }));
    expect((await wire.response()).headers["connection"]).toBe("close");
    expect(await wire.rest()).toBe("");
  }
  expect(asked).toEqual(["/docs"]);
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
});
