import { createServer } from "node:http";
import { createNodeHandler } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { listen, makeStore, type Served } from "./support/serve.js";

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

test("a body that was read by the host and not kept is 400, with advice", async () => {
  const { create } = await behind(() => undefined);
  const { status, body } = await create('{"name":"Rex","categoryId":7}');
  expect(status).toBe(400);
  expect(body).toContain("before the body parser");
});

test("a body property beside an unread stream is ignored", async () => {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store);
  const server = createServer((request, response) => {
    handle(Object.assign(request, { body: {} }), response);
  });
  const { create } = await listen(server, key);
  expect((await create('{"name":"Rex","categoryId":7}')).status).toBe(201);
});

/** A host whose body parser reads the body before the pet store sees the request. */
async function behind(parse: (text: string) => unknown): Promise<Pick<Served, "create">> {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = parse(Buffer.concat(chunks).toString());
      handle(Object.assign(request, { body }), response);
    });
  });
  return listen(server, key);
}
