import { expect, test, vi } from "vitest";
import { petNamed } from "../packages/http-adapter/test/support/cut-body.js";
import { compose } from "../packages/http-adapter/test/support/serve.js";
import { dial } from "../packages/http-adapter/test/support/wire.js";
import { serveAnew } from "./served-program.js";

test.each(["Bun", "Deno"] as const)("a server of ours in %s drains", async (runtime) => {
  const { port, key, end } = await serveAnew(runtime, "own-server.ts");
  const idle = await dial(port);
  const wire = await dial(port);
  const body = petNamed("Rex");
  wire.send(compose({ method: "POST", path: "/v1/pets", key, body }));
  wire.send(body.subarray(0, 5));
  // A response to a later request shows that the server has read this one.
  const other = await dial(port);
  other.send(compose({ key }));
  expect(await other.response()).toMatchObject({ status: 200 });

  const ended = end("SIGTERM");
  await vi.waitFor(() => expect(dial(port)).rejects.toThrow("ECONNREFUSED"), 60_000);
  wire.send(body.subarray(5));
  expect(await wire.response()).toMatchObject({ status: 201, headers: { connection: "close" } });
  expect(await ended).toBe(0);
  for (const { socket } of [idle, wire, other]) socket.destroy();
});
