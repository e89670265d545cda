import { expect, test } from "vitest";
import { PET, petOf } from "./support/pet.js";
import { compose, serve, slowToAdmit } from "./support/serve.js";

test("maxBodyBytes moves the limit", async () => {
  const { create } = await serve({ maxBodyBytes: 100 });
  expect((await create(petOf(100))).status).toBe(201);
  expect((await create(petOf(101))).status).toBe(413);
});

test.each([
  [100, 201],
  [101, 413],
])("a body of %i bytes that has arrived whole before it is read is %i", async (bytes, status) => {
  const { dial, key } = await serve({ maxBodyBytes: 100, store: { storage: slowToAdmit(1) } });
  const wire = await dial();
  const head = compose({ method: "POST", key, headers: ["Transfer-Encoding: chunked"] });
  // What follows is not a request, but does not concern this one.
  wire.send(`${head}${chunkOf(petOf(bytes))}0\r\n\r\n\x01`);
  expect((await wire.response()).status).toBe(status);
});

test("a body of many chunks of one byte is whole", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, headers: ["Transfer-Encoding: chunked"] }));
  wire.send(`${petOf(3_000).replace(/./g, "1\r\n$&\r\n")}0\r\n\r\n`);
  expect((await wire.response()).status).toBe(201);
});

test("chunks are cut at the limit, and the bytes after it are never a request", async () => {
  const { dial, key, store } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, headers: ["Transfer-Encoding: chunked"] }));
  wire.send(chunkOf("x".repeat(65_536)));
  wire.send(chunkOf(compose({ key })));
  const { status, headers } = await wire.response();
  expect([status, headers["connection"]]).toEqual([413, "close"]);
  wire.send(`0\r\n\r\n${compose({ method: "POST", key, body: petOf(100) })}${petOf(100)}`);
  expect(await wire.rest()).toBe("");
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
});

test("100 Continue is sent for a good request, then the body is read", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, body: PET, headers: ["Expect: 100-continue"] }));
  expect((await wire.response()).status).toBe(100);
  wire.send(PET);
  expect((await wire.response()).status).toBe(201);
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(200);
});

test("the fallback gets the body after 100 Continue", async () => {
  const { dial } = await serve({
    fallback: (request, response) => void request.resume().on("end", () => response.end("host")),
  });
  const wire = await dial();
  wire.send(compose({ method: "POST", path: "/", body: "x", headers: ["Expect: 100-continue"] }));
  expect((await wire.response()).status).toBe(100);
  wire.send("x");
  expect((await wire.response()).status).toBe(200);
});

test.each([
  { what: "a GET with a body", sent: { method: "GET" }, status: 200 },
  { what: "a wrong method with a body", sent: { method: "PUT" }, status: 405 },
  { what: "no key", sent: { method: "POST", key: null }, status: 401 },
])("$what: a short body is read away and the connection stays", async ({ sent, status }) => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ key, ...sent, body: "x".repeat(60_000) }));
  expect((await wire.response()).status).toBe(status);
  wire.send(`${"x".repeat(60_000)}${compose({ key, body: "xx" })}x`);
  expect((await wire.response()).status).toBe(200);
  // It has its response, although its body ends early.
  wire.socket.end();
  expect(await wire.rest()).toBe("");
});

function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
