import { decodeJson } from "@petstore/http-adapter";
import { expect, test, vi } from "vitest";
import { fakeTimers } from "../../../scripts/fake-timers.js";
import { compose, errorOf, PET, petOf, serve, slowToAdmit } from "./support/serve.js";

test.each([
  [100, 201],
  [101, 413],
])("with a limit of 100 bytes, %i are %i, also if they arrive early", async (bytes, status) => {
  const storage = slowToAdmit(1);
  const { create, dial, key } = await serve({ maxBodyBytes: 100, store: { storage } });
  expect((await create(petOf(bytes))).status).toBe(status);
  // What follows is not a request, but does not concern this one.
  const wire = await dial(`${headOfChunks(key)}${chunkOf(petOf(bytes))}0\r\n\r\n\x01`);
  expect((await wire.response()).status).toBe(status);
});

test("a body of many chunks of one byte is whole, up to the limit, and leaves no timer behind", async () => {
  const { dial, key } = await serve({ maxBodyBytes: 3_000 });
  fakeTimers("setTimeout", "clearTimeout");
  const wire = await dial(headOfChunks(key));
  const chunks = petOf(3_000).replace(/./g, "1\r\n$&\r\n");
  expect((await wire.exchange(`${chunks}0\r\n\r\n`)).status).toBe(201);
  expect(vi.getTimerCount()).toBe(0);
});

test("chunks are cut at the limit, and the bytes after it are never a request", async () => {
  const { dial, key, store } = await serve();
  const wire = await dial(headOfChunks(key) + chunkOf("x".repeat(65_536)));
  const { status, headers } = await wire.exchange(chunkOf(compose({ key })));
  expect([status, headers["connection"]]).toEqual([413, "close"]);
  wire.send(`0\r\n\r\n${compose({ method: "POST", key, body: petOf(100) })}${petOf(100)}`);
  expect(await wire.rest()).toBe("");
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
});

test("100 Continue is sent for a good request, then the body is read, also by the fallback", async () => {
  const { dial, key } = await serve({
    fallback: (request, response) => void request.resume().on("end", () => response.end("host")),
  });
  const wire = await dial();
  for (const path of ["/v1/pets", "/"]) {
    const head = { method: "POST", path, key, body: PET, headers: ["Expect: 100-continue"] };
    expect((await wire.exchange(compose(head))).status).toBe(100);
    expect((await wire.exchange(PET)).status).toBe(path === "/" ? 200 : 201);
  }
});

test.each([
  { what: "a GET with a body", sent: { method: "GET" }, status: 200 },
  { what: "a wrong method with a body", sent: { method: "PUT" }, status: 405 },
  { what: "no key", sent: { method: "POST", key: null }, status: 401 },
])("$what: a short body is read away and the connection stays", async ({ sent, status }) => {
  const { dial, key } = await serve();
  const body = "x".repeat(65_536);
  const wire = await dial(compose({ key, ...sent, body }));
  expect((await wire.response()).status).toBe(status);
  expect((await wire.exchange(`${body}${compose({ key, body: "xx" })}x`)).status).toBe(200);
  wire.socket.end();
  expect(await wire.rest()).toBe("");
});

test.each<[what: string, digits: string]>([
  ["number", "9".repeat(1_000_000)],
  ["exponent", `1e${"9".repeat(1_000_000)}`],
  ["fraction", `1.${"0".repeat(1_000_000)}1`],
])("a huge %s is never written out, and costs its length, not its square", async (_, digits) => {
  expect(decodeJson(Buffer.from(digits))._unsafeUnwrap()).toBeNaN();
  const { create } = await serve({ maxBodyBytes: 2_000_000 });
  const body = `{"name":"a","categoryId":${digits}}`;
  expect(await create(body)).toMatchObject(errorOf(400, "invalid_pet"));
});

test("the error of decodeJson has a code and a message, and nothing of HTTP", () => {
  const error = { code: "malformed_json", message: "The body is not valid JSON." };
  expect(decodeJson(Buffer.from("{"))._unsafeUnwrapErr()).toEqual(error);
});

const headOfChunks = (key: string): string =>
  compose({ method: "POST", key, headers: ["Transfer-Encoding: chunked"] });
const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
