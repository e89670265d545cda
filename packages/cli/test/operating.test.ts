import { describe, expect, it } from "vitest";
import { madeUpKey } from "../../storage-sqlite/test/limits/made-up-key.js";
import { issueKey } from "./support/command.js";
import { useServer } from "./support/built-petstore.js";
import { sendUntilClosed } from "./support/raw-client.js";

const FRESH = /^[\da-f-]{36}$/;

const origin = (url: string) => new URL(url).origin;

describe("serve --log", () => {
  const server = useServer("--log");

  it("takes X-Request-Id from the client or makes a new one, on every response", async () => {
    const { url, output } = server();
    const idFor = async (path: string, sent: Record<string, string> = {}) =>
      (await fetch(path, { headers: sent })).headers.get("x-request-id");
    for (const path of [`${url}/pets`, `${origin(url)}/healthz`, `${origin(url)}/nowhere`]) {
      expect(await idFor(path, { "x-request-id": "trace-1.2:3" })).toBe("trace-1.2:3");
      const fresh = await idFor(path);
      expect(fresh).toMatch(FRESH);
      expect(await idFor(path)).not.toBe(fresh);
    }
    // Also on one to a message that cannot be read.
    const response = await sendUntilClosed(url, "nonsense\r\n\r\n");
    const [, id = ""] = /^HTTP\/1\.1 400 [^]*\r\nX-Request-Id: (\S+)\r\n/.exec(response) ?? [];
    expect(id).toMatch(FRESH);
    const line = `"requestId":"${id}","operation":null,"keyId":null,"status":400,"code":"bad_request"`;
    await expect.poll(output).toContain(line);
  });

  it("responds to /healthz and /readyz without a key, outside the base path", async () => {
    const get = async (path: string, method = "GET") => {
      const response = await fetch(origin(server().url) + path, { method });
      return [response.status, await response.text(), response.headers.get("allow")];
    };
    expect(await get("/healthz")).toEqual([200, '{"status":"ok"}', null]);
    expect(await get("/readyz")).toEqual([200, '{"status":"ready"}', null]);
    expect(await get("/readyz", "HEAD")).toEqual([200, "", null]);
    expect(await get("/healthz", "POST")).toEqual([405, "", "GET, HEAD"]);
  });

  it("writes a line of JSON for each response, and never a key or a path", async () => {
    const { url, database, output } = server();
    const { secret, id } = await issueKey(database);
    const named = { "x-request-id": "mine" };
    const headers = { authorization: `Bearer ${secret}`, ...named };
    const paths = [`/pets?limit=5&key=${secret}`, `/pets/${secret}`, `/${secret}`, "/../healthz"];
    for (const path of paths) await (await fetch(url + path, { headers })).text();
    await (await fetch(`${url}/pets`, { headers: named })).text();
    const lines = () =>
      output()
        .split("\n")
        .filter((line) => line.includes('"requestId":"mine"'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect.poll(lines).toHaveLength(5);
    const line = {
      level: 30,
      time: expect.any(Number) as number,
      msg: "request",
      requestId: "mine",
      milliseconds: expect.any(Number) as number,
      keyId: id,
      code: null,
    };
    expect(lines()).toEqual([
      { ...line, operation: "listPets", status: 200 },
      { ...line, operation: "getPet", status: 404, code: "pet_not_found" },
      { ...line, operation: null, status: 404, code: "not_found" },
      { ...line, operation: null, status: 200, keyId: null },
      { ...line, operation: "listPets", keyId: null, status: 401, code: "missing_api_key" },
    ]);
    expect(output()).not.toContain(secret.slice(13));
  });

  it("logs no part of a key, nor of two joined keys", async () => {
    const { url, output } = server();
    const [key, other] = [madeUpKey(0), madeUpKey(2)];
    const headers = { "x-request-id": "joined" };
    for (const path of [`/pets/${key}${other}`, `/pet_live_${key}`, `/${key}_${other}`]) {
      await fetch(url + path, { headers });
    }
    await expect.poll(() => output().match(/"joined"/g)).toHaveLength(3);
    for (const secret of [key, other]) {
      for (let at = 9; at + 8 <= secret.length; at += 1) {
        expect(output()).not.toContain(secret.slice(at, at + 8));
      }
    }
  });
});
