import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { createNodeHandler } from "@petstore/http-adapter";
import { expect, it } from "vitest";
import { makeStore } from "./support/serve.js";

/** A request without a connection, as hosts make them of a function's event: complete from the start. */
function makeRequest(key: string, push: (request: IncomingMessage) => void): IncomingMessage {
  const lines = ["Host", "a", "Authorization", `Bearer ${key}`, "Transfer-Encoding", "chunked"];
  const request = Object.assign(new IncomingMessage(new Socket()), {
    complete: true,
    httpVersion: "1.1",
    method: "POST",
    url: "/v1/pets",
    headers: { host: "a", "transfer-encoding": "chunked" },
    rawHeaders: lines,
  });
  request._read = () => push(request);
  return request;
}

async function answerTo(body: string, when: (push: () => void) => void): Promise<string> {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store, { maxBodyBytes: 100 });
  const request = makeRequest(key, (made) => {
    when(() => {
      made.push(Buffer.from(body));
      made.push(null);
    });
  });
  const response = new ServerResponse(request);
  let written = "";
  const socket = new Writable({
    write: (chunk, _, done) => {
      written += String(chunk);
      done();
    },
  });
  response.assignSocket(socket as Socket);
  handle(request, response);
  await new Promise((resolve) => response.once("finish", resolve));
  return written;
}

it.each([
  ["at once", (push: () => void) => push()],
  ["later", (push: () => void) => void setImmediate(push)],
])("a body that a host hands over when it is read, %s, is read and measured", async (_, when) => {
  expect(await answerTo('{"name":"Rex","categoryId":7}', when)).toMatch(/^HTTP\/1\.1 201 /);
  const long = JSON.stringify({ name: "x".repeat(500), categoryId: 7 });
  expect(await answerTo(long, when)).toMatch(/^HTTP\/1\.1 413 /);
});
