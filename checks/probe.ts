import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { petNamed } from "../packages/http-adapter/test/support/cut-body.js";
import { compose } from "../packages/http-adapter/test/support/serve.js";
import { dial } from "../packages/http-adapter/test/support/wire.js";
import { inStore } from "../runtimes/served-program.js";
import { emptyFolder, start } from "./project.js";

const EXACT = '{"name":"Rex","categoryId":9007199254740993}';

/** Starts a host on a new database, and expects of the store in it what every host has to leave alone. */
export async function probe(
  folder: string,
  program: readonly string[],
  basePath = "/v1",
): Promise<void> {
  const database = join(emptyFolder(), "pets.db");
  const issue = (perDay: number) =>
    inStore(database, async ({ keys }) => {
      const limits = { perMinute: perDay, perDay };
      return (await keys.issue({ plan: "enterprise", limits }))._unsafeUnwrap().secret;
    });
  const [key, of60] = [await issue(1000), await issue(60)];
  const port = await start(folder, () => program, { PETSTORE_DATABASE: database });
  const send = async (path: string, init: RequestInit = {}, secret = key) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const url = `http://127.0.0.1:${port}${basePath}${path}`;
    const response = await fetch(url, { headers, ...init });
    const body = await response.text();
    return { status: response.status, body, code: /"code":"(\w+)"/.exec(body)?.[1] };
  };
  const post = (body: string | ReadableStream) =>
    send("/pets", { method: "POST", body, duplex: "half" });

  expect(await post(EXACT)).toMatchObject({ status: 201 });
  expect((await send("/pets/1")).body).toBe(
    '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}',
  );
  const stranger = await send("/pets", {}, "made-up");
  expect(stranger).toMatchObject({ status: 401, code: "invalid_api_key" });
  expect(await send("/pets/99")).toMatchObject({ status: 404, code: "pet_not_found" });
  expect(await send("/pets", { method: "DELETE" })).toMatchObject({ status: 405 });
  expect(await post(" ".repeat(65_537))).toMatchObject({ status: 413, code: "payload_too_large" });
  expect(await send("/pets", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  expect(await post(new Blob([EXACT]).stream())).toMatchObject({ status: 201 });
  await sendCutBodies(port, `${basePath}/pets`, key);
  expect(JSON.parse((await send("/pets")).body)).toHaveLength(2);

  const spent = Array.from({ length: 60 }, () => send("/pets", {}, of60));
  expect(new Set((await Promise.all(spent)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(await send("/pets", {}, of60)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
}

/** Sends whole pets whose bodies should go on, and closes the connections. */
async function sendCutBodies(port: number, path: string, key: string): Promise<void> {
  const pet = petNamed("cut").toString();
  const chunk = `${pet.length.toString(16)}\r\n${pet}\r\n`;
  const bodies = {
    [`Content-Length: ${pet.length + 1}`]: pet,
    "Transfer-Encoding: chunked": chunk,
  };
  for (const [framing, body] of Object.entries(bodies)) {
    const headers = ["Content-Type: application/json", framing];
    const wire = await dial(port);
    wire.send(compose({ method: "POST", path, key, headers }) + body);
    await setTimeout(100);
    wire.socket.destroy();
  }
  await setTimeout(100);
}
