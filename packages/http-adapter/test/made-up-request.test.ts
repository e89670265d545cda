import { createServer, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { createNodeHandler } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { listen, makeStore } from "./support/serve.js";

/** A request without a connection, as serverless hosts make them of an event: complete from the start. */
function makeRequest(key: string, body: string | null): IncomingMessage {
  const request = Object.assign(new IncomingMessage(new Socket()), {
    complete: true,
    httpVersion: "1.1",
    method: "POST",
    url: "/v1/pets",
    headers: { host: "a" },
    rawHeaders: ["Host", "a", "Authorization", `Bearer ${key}`],
  });
  request._read = () => {
    request.push(body);
    request.push(null);
  };
  return request;
}

test("a body that a host hands over when it is read is read and measured", async () => {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store, { maxBodyBytes: 100 });
  const server = createServer((real, response) => {
    const { searchParams } = new URL(real.url ?? "", "http://a");
    handle(makeRequest(key, searchParams.get("body")), response);
  });
  const { call } = await listen(server, key);
  const statusFor = async (pet: object) =>
    (await call({ path: `/?body=${encodeURIComponent(JSON.stringify(pet))}` })).status;
  expect(await statusFor({ name: "Rex", categoryId: 7 })).toBe(201);
  expect(await statusFor({ name: "x".repeat(500), categoryId: 7 })).toBe(413);
});
