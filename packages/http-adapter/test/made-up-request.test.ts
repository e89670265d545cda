import { createServer, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { createNodeHandler } from "@petstore/http-adapter";
import { expect, it } from "vitest";
import { listen, makeStore } from "./support/serve.js";

/** A request without a connection, as hosts make them of a function's event: complete from the start. */
function makeRequest(key: string, read: (request: IncomingMessage) => void): IncomingMessage {
  const request = Object.assign(new IncomingMessage(new Socket()), {
    complete: true,
    httpVersion: "1.1",
    method: "POST",
    url: "/v1/pets",
    headers: { host: "a", "transfer-encoding": "chunked" },
    rawHeaders: ["Host", "a", "Authorization", `Bearer ${key}`, "Transfer-Encoding", "chunked"],
  });
  request._read = () => read(request);
  return request;
}

it.each([
  ["at once", (push: () => void) => push()],
  ["later", (push: () => void) => void setImmediate(push)],
])("a body that a host hands over when it is read, %s, is read and measured", async (_, when) => {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store, { maxBodyBytes: 100 });
  const server = createServer((real, response) => {
    const { searchParams } = new URL(real.url ?? "", "http://a");
    const made = makeRequest(key, (request) =>
      when(() => {
        request.push(searchParams.get("body"));
        request.push(null);
      }),
    );
    handle(made, response);
  });
  const { call } = await listen(server, key);
  const statusFor = async (pet: object) =>
    (await call({ path: `/?body=${encodeURIComponent(JSON.stringify(pet))}` })).status;
  expect(await statusFor({ name: "Rex", categoryId: 7 })).toBe(201);
  expect(await statusFor({ name: "x".repeat(500), categoryId: 7 })).toBe(413);
});
