import { createServer, IncomingMessage, type RequestListener } from "node:http";
import { Socket } from "node:net";
import { createNodeHandler, type NodeOptions } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, listen, makeStore } from "./support/serve.js";

test.each([
  ['{"name":"Rex","categoryId":7}', '"categoryId":7'],
  ['{"name":"Rex","categoryId":9007199254740991}', '"categoryId":9007199254740991'],
  ['{"name":"Rex","categoryId":-9007199254740991}', '"categoryId":-9007199254740991'],
  ['{"name":"Rex","categoryId":"7"}', '"invalid_pet"'],
  ["[]", '"invalid_pet"'],
  // The parser may have rounded it.
  ['{"name":"Rex","categoryId":9007199254740993}', "mount the pet store before the body parser"],
  ['{"name":"Rex","categoryId":-9223372036854775808}', "mount the pet store before the body"],
])("the result of a host's body parser is used: %s gets %s", async (sent, expected) => {
  const { create } = await behind((text) => JSON.parse(text));
  expect((await create(sent)).body).toContain(expected);
});

test("an empty body that the host has read is an empty body", async () => {
  const { create } = await behind(() => undefined);
  expect((await create("")).body).toContain('"malformed_json"');
});

test("bytes are read like bytes from the wire", async () => {
  const { create } = await behind((text) => Buffer.from(text));
  expect((await create('{"name":"Rex","categoryId":9007199254740993}')).body).toContain(
    '"categoryId":9007199254740993',
  );
  expect((await create("x".repeat(65_537))).status).toBe(413);
});

test("the text in rawBody is read like bytes from the wire", async () => {
  const { create } = await behind((text) => text, "rawBody");
  const { body } = await create('{"name":"Rex","categoryId":9007199254740993}');
  expect(body).toContain('"categoryId":9007199254740993');
});

test("a body that was read by the host and not kept is 400, with advice", async () => {
  const { create } = await behind(() => undefined);
  const { status, body } = await create('{"name":"Rex","categoryId":7}');
  expect(status).toBe(400);
  expect(body).toContain("before the body parser");
});

test("a body property beside an unread stream is ignored", async () => {
  const { create } = await listenWith(
    (handle) => (request, response) => handle(Object.assign(request, { body: {} }), response),
  );
  expect((await create('{"name":"Rex","categoryId":7}')).status).toBe(201);
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

test("a body that a host hands over when it is read is read and measured", async () => {
  // Serverless hosts make requests of an event: without a connection, complete from the start.
  const { call } = await listenWith(
    (handle, key) => (real, response) => {
      const { searchParams } = new URL(real.url ?? "", "http://a");
      const request = Object.assign(new IncomingMessage(new Socket()), {
        complete: true,
        httpVersion: "1.1",
        method: "POST",
        url: "/v1/pets",
        rawHeaders: ["Host", "a", "Authorization", `Bearer ${key}`],
      });
      request._read = () => {
        request.push(searchParams.get("body"));
        request.push(null);
      };
      handle(request, response);
    },
    { maxBodyBytes: 100 },
  );
  const statusFor = async (pet: object) =>
    (await call({ path: `/?body=${encodeURIComponent(JSON.stringify(pet))}` })).status;
  expect(await statusFor({ name: "Rex", categoryId: 7 })).toBe(201);
  expect(await statusFor({ name: "x".repeat(500), categoryId: 7 })).toBe(413);
});

/** A host whose body parser reads the body before the pet store sees the request. */
const behind = (parse: (text: string) => unknown, property = "body") =>
  listenWith((handle) => (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = parse(Buffer.concat(chunks).toString());
      handle(Object.assign(request, { [property]: body }), response);
    });
  });

/** A host that calls the handler of a store in its listener. */
async function listenWith(
  host: (handle: RequestListener, key: string) => RequestListener,
  options?: NodeOptions,
) {
  const { store, key } = await makeStore();
  const server = createServer(host(createNodeHandler(store, options), key));
  return { key, ...(await listen(server, key)) };
}
