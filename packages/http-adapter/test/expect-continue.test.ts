import { createServer } from "node:http";
import { mount } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { PET } from "./support/pet.js";
import { compose, listen, makeStore, serve, type Call } from "./support/serve.js";

const EXPECT = "Expect: 100-continue";

test("100 Continue is sent for a good request, then the body is read", async () => {
  const { dial, key } = await serve();
  const wire = await dial();
  wire.send(compose({ method: "POST", key, body: PET, headers: [EXPECT] }));
  expect((await wire.response()).status).toBe(100);
  wire.send(PET);
  expect((await wire.response()).status).toBe(201);
  wire.send(compose({ key }));
  expect((await wire.response()).status).toBe(200);
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

test("on a host's server Node sends 100 Continue, unless the host listens for checkContinue", async () => {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, store);
  const { dial } = await listen(server, key);
  const statusOf = async (sent: Call): Promise<number> => {
    const wire = await dial();
    wire.send(compose({ method: "POST", body: PET, headers: [EXPECT], ...sent }));
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
