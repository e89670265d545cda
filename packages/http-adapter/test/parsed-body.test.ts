import { EventEmitter, once } from "node:events";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { compose, PET, petOf, serveHandler } from "./support/serve.js";

const EXACT = '{"name":"Rex","categoryId":9007199254740993}';
const parsed = (text: string): object => ({ body: JSON.parse(text) as unknown });
const bytes = (text: string): object => ({ body: Buffer.from(text) });
const ROUNDED = "a body parser has rounded it: mount the pet store before the body parser";
const GONE = "The host has read the body: mount the pet store before the body parser";

/** What a host that has read a body leaves on the request, the body, and what is in the response. */
test.each<[what: string, leave: (text: string) => object, sent: string, expected: string]>([
  ["its result", parsed, '{"name":"Rex","categoryId":7}', '"categoryId":7'],
  ["2^53 − 1", parsed, EXACT.replace("3}", "1}"), '"categoryId":9007199254740991'],
  ["−2^53 + 1", parsed, EXACT.replace("9", "-9").replace("3}", "1}"), "-9007199254740991"],
  ["a text as category", parsed, '{"name":"Rex","categoryId":"7"}', '"invalid_pet"'],
  ["an array", parsed, "[]", '"invalid_pet"'],
  ["a category that may be rounded", parsed, EXACT, ROUNDED],
  ["a negative one", parsed, '{"name":"Rex","categoryId":-9223372036854775808}', ROUNDED],
  ["bytes", bytes, EXACT, '"categoryId":9007199254740993'],
  ["too many bytes", bytes, "x".repeat(65_537), '"payload_too_large"'],
  ["text in rawBody", (rawBody) => ({ rawBody }), EXACT, '"categoryId":9007199254740993'],
  ["nothing", () => ({ body: undefined }), EXACT, GONE],
  ["nothing of an empty body", () => ({ body: undefined }), "", '"malformed_json"'],
])("what a host's body parser leaves is used: %s", async (_, leave, sent, expected) => {
  const { create } = await serveHandler((handle) => async (request, response) => {
    handle(Object.assign(request, leave(await text(request))), response);
  });
  expect((await create(sent)).body).toContain(expected);
});

test("a body property beside an unread stream is ignored", async () => {
  const { create } = await serveHandler(
    (handle) => (request, response) => handle(Object.assign(request, { body: {} }), response),
  );
  expect((await create(PET)).status).toBe(201);
});

test("the body is read even if the host has paused the request", async () => {
  const events = new EventEmitter();
  const { dial, key } = await serveHandler((handle) => (request, response) => {
    request.pause();
    setImmediate(() => {
      handle(request, response);
      setImmediate(() => events.emit("handled"));
    });
  });
  const body = '{"name":"Ærø","categoryId":1}';
  for (const cut of [0, 12, body.length]) {
    const handled = once(events, "handled");
    const wire = await dial(compose({ method: "POST", key, body }) + body.slice(0, cut));
    await handled;
    const response = await wire.exchange(body.slice(cut));
    expect([response.status, response.body]).toEqual([201, expect.stringContaining('"Ærø"')]);
  }
});

test("after setEncoding by the host, the bytes are lost: a reported error", async () => {
  const { call, causes } = await serveHandler(
    (handle) => (request, response) => handle(request.setEncoding("utf8"), response),
  );
  const headers = { "x-ratelimit-remaining": "59" };
  expect(await call({ method: "POST", body: "{}" })).toMatchObject({ status: 500, headers });
  expect(causes).toEqual([expect.any(TypeError)]);
});

test("a body that a host hands over when it is read is read and measured", async () => {
  // Serverless hosts make requests of an event: without a connection, complete from the start.
  const { call } = await serveHandler(
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
  expect((await call({ path: `/?body=${petOf(100)}` })).status).toBe(201);
  expect((await call({ path: `/?body=${petOf(101)}` })).status).toBe(413);
});
