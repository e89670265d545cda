import { execFile } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { storageRequirements } from "@petstore/storage-contract";
import { expect, inject, test, vi } from "vitest";
import { petNamed } from "../packages/http-adapter/test/support/cut-body.js";
import { compose } from "../packages/http-adapter/test/support/serve.js";
import { dial } from "../packages/http-adapter/test/support/wire.js";
import { serveAnew } from "./served-program.js";

test.each(["Bun", "Deno"] as const)("a file meets every requirement in %s", async (name) => {
  const { folder, command } = inject("runtimes")[name];
  const [program, ...args] = [...command, join(folder, "meet-requirements.ts")];
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder, timeout: 240_000 });
  const inOneProcess = storageRequirements.filter(({ needs }) => needs !== "processes");
  expect(stdout.trim().split("\n")).toEqual(inOneProcess.map((each) => each.name));
});

test.each([
  ["Bun", "bun.ts"],
  ["Deno", "deno.ts"],
] as const)("the example of %s tells callers without a key apart", async (runtime, program) => {
  const { port } = await serveAnew(runtime, program);
  const visit = async (path: string, localAddress: string) => {
    const wire = await dial(port, (to, host) => connect({ port: to, host, localAddress }));
    wire.send(compose({ path }));
    const { body, headers } = await wire.response();
    wire.socket.destroy();
    return headers["x-ratelimit-remaining"] ?? body;
  };
  const [one, other] = ["127.0.0.2", "127.0.0.3"] as const;
  expect(await visit("/", one)).toBe("The host's own page.");
  const left = [await visit("/v1/pets", one), await visit("/v1/pets", other)];
  expect([...left, await visit("/v1/pets", one)]).toEqual(["59", "59", "58"]);
});

test.each(["Bun", "Deno"] as const)("a server of ours in %s drains", async (runtime) => {
  const { port, key, end } = await serveAnew(runtime, "own-server.ts");
  const [idle, wire, other] = await Promise.all([dial(port), dial(port), dial(port)]);
  const body = petNamed("Rex");
  wire.send(compose({ method: "POST", path: "/v1/pets", key, body }));
  wire.send(body.subarray(0, 5));
  // A response to a later request shows that the server has read this one.
  other.send(compose({ key }));
  expect(await other.response()).toMatchObject({ status: 200 });

  const ended = end("SIGTERM");
  await vi.waitFor(() => expect(dial(port)).rejects.toThrow("ECONNREFUSED"), 60_000);
  wire.send(body.subarray(5));
  expect(await wire.response()).toMatchObject({ status: 201, headers: { connection: "close" } });
  expect(await ended).toBe(0);
  for (const { socket } of [idle, wire, other]) socket.destroy();
});
