import { createServer } from "node:http";
import { expect, test } from "vitest";
import { compose, serve, type Call } from "./support/serve.js";

const pet = '{"name":"Rex","categoryId":1}';

test("100 Continue is sent for a good request, then the body is read", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, body: pet, headers: ["Expect: 100-continue"] }));
  expect((await wire.answer()).status).toBe(100);
  wire.send(pet);
  expect((await wire.answer()).status).toBe(201);
  wire.send(compose({ key }));
  expect((await wire.answer()).status).toBe(200);
});

test.each<[status: number, sent: Call]>([
  [401, { key: null }],
  [404, { path: "/v1/dogs" }],
  [405, { method: "PUT" }],
  [413, { headers: ["Content-Length: 65537"] }],
  [415, { headers: ["Content-Length: 10", "Content-Type: text/plain"] }],
  [400, { headers: ["Content-Length: 10", "Host: twice.test"] }],
])("%i is the final status, without a 100 before it", async (status, sent) => {
  const { dial, key } = await serve();
  const wire = await dial();
  const headers = [...(sent.headers ?? ["Content-Length: 10"]), "Expect: 100-continue"];
  wire.send(compose({ method: "POST", key, ...sent, headers }));
  const answer = await wire.answer();
  expect([answer.status, answer.headers["connection"]]).toEqual([status, "close"]);
  expect(await wire.rest()).toBe("");
});

test("elsewhere the host's listeners decide, or Node does as without a mount", async () => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("host"));
  });
  const { dial } = await serve({}, server);
  const expecting = compose({
    method: "POST",
    path: "/",
    body: "x",
    headers: ["Expect: 100-continue"],
  });

  const plain = await dial();
  plain.send(expecting);
  expect((await plain.answer()).status).toBe(100);
  plain.socket.destroy();

  server.on("checkContinue", (_, response) =>
    response.writeHead(403, { "Content-Length": 0 }).end(),
  );
  const decided = await dial();
  decided.send(expecting);
  expect((await decided.answer()).status).toBe(403);
});

test("an unknown expectation elsewhere is the host's, or 417 as Node has it", async () => {
  const { call, server } = await serve({ ownsServer: false });
  const sent = { path: "/", headers: ["Expect: cake"] };
  const refused = await call(sent);
  expect([refused.status, refused.body]).toEqual([417, ""]);
  server.on("checkExpectation", (_, response) => response.writeHead(200).end("cake"));
  expect((await call(sent)).status).toBe(200);
});

test("an unknown expectation is 417, and what may follow is not taken for a request", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, headers: ["Content-Length: 10", "Expect: cake"] }));
  const { status, headers } = await wire.answer();
  expect([status, headers["connection"]]).toEqual([417, "close"]);
  expect(await wire.rest()).toBe("");
});
