import { connect } from "node:net";
import { expect, test } from "vitest";
import { compose } from "../packages/http-adapter/test/support/serve.js";
import { dial } from "../packages/http-adapter/test/support/wire.js";
import { newDatabase, serve } from "./served-program.js";

test.each([
  ["Bun", "bun.ts"],
  ["Deno", "deno.ts"],
] as const)("the example of %s tells callers without a key apart", async (runtime, program) => {
  const { port } = await serve(runtime, program, newDatabase());
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
