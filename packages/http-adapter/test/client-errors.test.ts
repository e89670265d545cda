import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { compose, errorOf, serve } from "./support/serve.js";

const GARBAGE = "\x01\r\n\r\n";
const BROKEN = `${compose({ path: "/", method: "POST", headers: ["Transfer-Encoding: chunked"] })}zz\r\n`;

test("a message that the parser refuses gets an Error with the headers of its address, costs nothing, and is no bug", async () => {
  const { dial, store, causes } = await serve();
  const wire = await dial(GARBAGE);
  const response = await wire.response();
  expect(response).toMatchObject(errorOf(400, "bad_request"));
  expect(response.headers).toMatchObject({
    connection: "close",
    "content-length": String(response.body.length),
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "60",
    "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
    date: expect.stringMatching(/ GMT$/) as unknown,
  });
  expect(await wire.rest()).toBe("");
  expect([store.anonymousQuota("127.0.0.1").remaining, causes]).toEqual([60, []]);
});

test.each([
  ["HEAD / HTTP/1.1\r\n\x01\r\n\r\n", ""],
  [`HEAD / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, ""],
  ["HEADER / HTTP/1.1\r\n\r\n", /^{/],
  [`HEAD / HTTP/1.1\r\nHost: a\r\n\r\n${GARBAGE}`, /^HTTP\/1.1 400 .*}$/s],
])("after HEAD, a refusal has no body: %j", async (bytes, body) => {
  const { dial } = await serve();
  const wire = await dial(bytes);
  await wire.response("HEAD");
  expect(await wire.rest()).toEqual(typeof body === "string" ? body : expect.stringMatching(body));
});

const INVALID = /^The request is not valid HTTP: .+\.$/;
const VERSION = /^Only HTTP\/1\.1 and HTTP\/1\.0 are supported\.$/;

test.each([
  ["SECRET / HTTP/1.1\r\n\r\n", INVALID],
  ["GET / SECRET\r\n\r\n", INVALID],
  ["GET / HTTP/1.1\r\nSECRET\x01: a\r\n\r\n", INVALID],
  ["GET / HTTP/1.1\r\nContent-Length: SECRET\r\n\r\n", INVALID],
  ["GET / HTTP/3.1\r\n\r\n", VERSION],
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", VERSION],
  ["GET / HTTP/1.1\r\nHost: SECRET", /^The request ended early\.$/],
])("the refusal of %j says why, and repeats nothing of it", async (bytes, message) => {
  const { dial } = await serve();
  const wire = await dial();
  wire.socket.end(bytes);
  const { status, body } = await wire.response();
  const error = { code: "bad_request", message: expect.stringMatching(message) as unknown, status };
  expect([status, JSON.parse(body)]).toEqual([400, error]);
  expect(body).not.toContain("SECRET");
});

test.each([
  ["a later one", compose({ path: "/" }) + GARBAGE, 1],
  ["its own body", BROKEN, 0],
])("a response that the fallback began is completed: a flaw in %s", async (_, bytes, refusals) => {
  const { server, dial } = await serve({
    fallback: (_, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("hello");
      server.once("go on", () => response.end("world"));
    },
  });
  const wire = await dial(bytes);
  wire.send(GARBAGE);
  await once(wire.socket, "data");
  server.emit("go on");
  expect((await wire.response()).body).toBe("helloworld");
  expect((await wire.rest()).split('"bad_request"')).toHaveLength(refusals + 1);
});

test("a broken body that the fallback is to read is refused, at once or after earlier responses; one that it has left ends the connection", async () => {
  const { server, dial } = await serve({
    limits: { timeoutSeconds: 0, keepAliveTimeoutSeconds: 0 },
    fallback: async (request, response) => {
      if (request.method === "GET") server.once("go on", () => response.end("first"));
      else if (request.method === "PUT") response.end("left");
      else response.end(await text(request));
    },
  });
  const reading = await dial(BROKEN.replace("zz", "1\r\nx\r\nzz"));
  expect(await reading.response()).toMatchObject(errorOf(400, "bad_request"));
  expect(await reading.rest()).toBe("");
  const left = await dial(BROKEN.replace("POST", "PUT").replace("zz\r\n", ""));
  expect((await left.response()).body).toBe("left");
  left.send("zz\r\n");
  expect(await left.rest()).toBe("");
  const refused = once(server, "clientError");
  const waiting = await dial(compose({ path: "/" }) + BROKEN);
  await refused;
  server.emit("go on");
  expect((await waiting.response()).body).toContain("first");
  expect(await waiting.response()).toMatchObject(errorOf(400, "bad_request"));
  expect(await waiting.rest()).toBe("");
});

test("what the fallback writes after the refusal of a broken body is not sent, and its response is closed", async () => {
  const events: string[] = [];
  const { server, dial } = await serve({
    fallback: (_, response) => {
      response.on("close", () => events.push("close"));
      const end = () => events.push("end") && response.end("late");
      server.once("clientError", () => setImmediate(end));
    },
  });
  const wire = await dial(BROKEN);
  expect(await wire.response()).toMatchObject(errorOf(400, "bad_request"));
  expect(await wire.rest()).toBe("");
  await expect.poll(() => events).toEqual(["end", "close"]);
});

test("a fallback that throws, at once or later, is 500 and a reported error; it is not called after a listener that responds", async () => {
  const bug = new Error("a bug");
  const { server, call, dial, causes } = await serve({
    fallback: async (request, response) => {
      if (request.url === "/late") await new Promise(setImmediate);
      if (request.url === "/begun") response.write("x");
      throw bug;
    },
  });
  for (const path of ["/", "/late"]) {
    const headers = { "x-ratelimit-limit": "60" };
    expect(await call({ path })).toMatchObject({ ...errorOf(500, "internal_error"), headers });
  }
  expect(await (await dial(compose({ path: "/begun" }))).rest()).not.toContain("0\r\n\r\n");
  server.prependListener("request", (_, response) => response.end("the host's"));
  expect((await call({ path: "/" })).body).toBe("the host's");
  expect(causes).toEqual([bug, bug, bug]);
});

test.each([
  `${"\r\n".repeat(500_000)}GET / HTTP/1.1\r\nX: ${"a".repeat(20_000)}`,
  `GET / HTTP/1.1\r\nOrigin: a${" ".repeat(60_000)}b\r\n\r\n`,
])("a message too long costs its length, not its square (%#)", async (bytes) => {
  const { dial } = await serve();
  const before = process.cpuUsage();
  expect((await (await dial(bytes)).response()).status).toBe(431);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

test("a header section of 1,000 lines is 431, also where Node has dropped the Host among them", async () => {
  const { call, dial } = await serve();
  const statusOf = async (lines: number) =>
    (await call({ headers: Array<string>(lines - 2).fill("a:b") })).status;
  expect([await statusOf(999), await statusOf(1_000)]).toEqual([200, 431]);
  const wire = await dial(`GET /v1/pets HTTP/1.1\r\n${"a:b\r\n".repeat(1_100)}Host: a\r\n\r\n`);
  expect((await wire.response()).status).toBe(431);
});
