import { describe, expect, it } from "vitest";
import { serve } from "./support/serve.js";

describe("headers of the host's own", () => {
  it("are on every answer, made for its request", async () => {
    const { call } = await serve({
      headers: ({ url = "", method = "" }) => ["X-Trace", `${method} ${url}`, "X-Host", "mine"],
    });
    for (const [method, path, status] of [
      ["GET", "/v1/pets", 200],
      ["GET", "/v1/pets/1", 404],
      ["HEAD", "/v1/pets", 200],
      ["DELETE", "/v1/pets", 405],
      ["GET", "/elsewhere", 404],
    ] as const) {
      const answer = await call({ method, path });
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({ "x-trace": `${method} ${path}`, "x-host": "mine" });
      expect(answer.headers["x-ratelimit-limit"]).toBe("60");
    }
  });

  it("are on answers to what could not be read, too", async () => {
    const { dial } = await serve({ headers: ({ url = "" }) => ["X-Trace", `<${url}>`] });
    const wire = await dial();
    wire.send("nonsense\r\n\r\n");
    const { status, headers } = await wire.answer();
    expect(status).toBe(400);
    expect(headers).toMatchObject({ "x-trace": "<>", "x-ratelimit-limit": "60" });
  });

  it("may close the connection, and say so once", async () => {
    const { dial, key } = await serve({ headers: () => ["Connection", "close"] });
    const wire = await dial();
    const head = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
    wire.send(`${head}Content-Length: 999999\r\n\r\n`);
    const { headers } = await wire.answer();
    expect(headers["connection"]).toBe("close");
    expect(await wire.rest()).toBe("");
  });

  it("do not keep a connection that must be closed, whatever they hold", async () => {
    for (const headers of [
      ["Connection", "keep-alive"],
      ["connection", "keep-alive"],
      ["X-Request-Id", "Connection"],
    ]) {
      const { dial, key } = await serve({ headers: () => headers });
      const wire = await dial();
      wire.send(
        `GET /v1/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      const answer = await wire.answer();
      expect(answer.status).toBe(400);
      expect(answer.headers["connection"]).toBe("close");
      expect(await wire.rest()).toBe("");
    }
  });

  it.each([
    ["nothing", undefined],
    ["a name without a value", ["X-Trace"]],
    ["no value", ["X-Trace", undefined]],
    ["a line break", ["X-Trace", "one\r\ntwo: three"]],
    ["no name", ["X Trace", "one"]],
    ["a Trailer", ["Trailer", "X-Trace"]],
    ["a length", ["content-length", "3"]],
    ["a coding", ["Transfer-Encoding", "chunked"]],
    ["a type", ["Content-Type", "text/plain"]],
    ["a limit", ["x-ratelimit-limit", "7"]],
    ["more than ASCII", ["Content-Disposition", "\xff"]],
  ])("that hold %s are reported, and left out", async (_, fields) => {
    const reported: unknown[] = [];
    const { call, dial } = await serve({
      headers: () => fields as string[],
      onError: (cause) => reported.push(cause),
    });
    expect((await call()).status).toBe(200);
    const wire = await dial();
    wire.send("nonsense\r\n\r\n");
    expect((await wire.answer()).status).toBe(400);
    expect(reported).toHaveLength(2);
    for (const cause of reported) expect(cause).toBeInstanceOf(TypeError);
  });

  it("that come later are reported, and left out", async () => {
    const reported: unknown[] = [];
    const { call } = await serve({
      headers: () => Promise.reject(new Error("too late")) as unknown as string[],
      onError: (cause) => reported.push(cause),
    });
    expect((await call()).status).toBe(200);
    expect(reported).toEqual([expect.any(TypeError), new Error("too late")]);
  });

  it("that cannot be made are reported, and left out", async () => {
    const reported: unknown[] = [];
    const { call } = await serve({
      headers: () => {
        throw new Error("no headers today");
      },
      onError: (cause) => reported.push(cause),
    });
    expect((await call()).status).toBe(200);
    expect(reported).toEqual([new Error("no headers today")]);
  });
});
