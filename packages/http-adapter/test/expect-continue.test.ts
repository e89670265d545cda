import { createServer } from "node:http";
import { mount } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, listen, makeStore, serve, type Call } from "./support/serve.js";

const pet = '{"name":"Rex","categoryId":1}';
const EXPECT = "Expect: 100-continue";

test("100 Continue is sent for a good request, then the body is read", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, body: pet, headers: [EXPECT] }));
  expect((await wire.response()).status).toBe(100);
  wire.send(pet);
  expect((await wire.response()).status).toBe(201);
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(200);
});

test.each<[status: number, sent: Call]>([
  [401, { key: null }],
  [404, { path: "/v1/dogs" }],
  [404, { path: "/elsewhere" }],
  [405, { method: "PUT" }],
  [413, { headers: ["Content-Length: 65537"] }],
  [415, { headers: ["Content-Length: 10", "Content-Type: text/plain"] }],
  [400, { headers: ["Content-Length: 10", "Host: twice.test"] }],
])("%i is the final status, without a 100 before it: %j", async (status, sent) => {
  const { dial, key } = await serve();
  const wire = await dial();
  const headers = [...(sent.headers ?? ["Content-Length: 10"]), EXPECT];
  wire.send(compose({ method: "POST", key, ...sent, headers }));
  const response = await wire.response();
  expect([response.status, response.headers["connection"]]).toEqual([status, "close"]);
  expect(await wire.rest()).toBe("");
});

test("the fallback gets the body after 100 Continue", async () => {
  const { dial } = await serve({
    fallback: (request, response) => void request.resume().on("end", () => response.end("host")),
  });
  const wire = await dial();
  wire.send(compose({ method: "POST", path: "/", body: "x", headers: [EXPECT] }));
  expect((await wire.response()).status).toBe(100);
  wire.send("x");
  expect((await wire.response()).status).toBe(200);
});

test.each(["cake", "100-continue, cake", "cake, 100-continue"])(
  "the unknown expectation %s is 417, and the bytes after it are not a request",
  async (expectation) => {
    const { dial, key } = await serve();
    const wire = await dial();
    const headers = ["Content-Length: 10", `Expect: ${expectation}`];
    wire.send(compose({ method: "POST", key, headers }));
    const response = await wire.response();
    expect([response.status, response.headers["connection"]]).toEqual([417, "close"]);
    expect(response.body).toContain('"expectation_failed"');
    expect(await wire.rest()).toBe("");
  },
);

test("on a host's server Node sends 100 Continue, unless the host listens for checkContinue", async () => {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, store);
  const { dial } = await listen(server, key);
  const statusOf = async (sent: Call): Promise<number> => {
    const wire = await dial();
    wire.send(compose({ method: "POST", body: pet, headers: [EXPECT], ...sent }));
    const { status } = await wire.response();
    wire.socket.destroy();
    return status;
  };
  expect(await statusOf({})).toBe(100);
  server.on("checkContinue", (_, response) =>
    response.writeHead(403, { "Content-Length": 0 }).end(),
  );
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ key })).toBe(100);
  expect(await statusOf({ path: "/" })).toBe(403);
});
