import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createNodeHandler, handleClientErrors, mount } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { refusalOf } from "../src/node/parser-error.js";
import { compose, listen, makeStore, serve } from "./support/serve.js";
import { post, PET } from "./support/conformance/case.js";

const GARBAGE = "\x01\r\n\r\n";

test("on a server where nobody else listens, what the parser refuses gets an Error and costs nothing", async () => {
  const { dial, store } = await serve();
  const wire = await dial();
  wire.send(GARBAGE);
  const { status, headers, body } = await wire.answer();
  expect(JSON.parse(body)).toMatchObject({ code: "bad_request", status: 400 });
  expect(headers).toMatchObject({
    connection: "close",
    "content-length": String(body.length),
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "60",
  });
  expect(headers).toHaveProperty("date");
  expect([status, await wire.rest()]).toEqual([400, ""]);
  expect(store.anonymousQuota("127.0.0.1").remaining).toBe(60);
});

test.each(["request", "clientError"])(
  "a host that listens for %s keeps its own answers",
  async (event) => {
    const { dial, server } = await serve();
    server.on(event, (_: unknown, last: Socket) => last.end("HTTP/1.1 499 Own\r\n\r\n"));
    const wire = await dial();
    wire.send(GARBAGE);
    const { status, body } = await wire.answer();
    expect([status, body]).toEqual([event === "request" ? 400 : 499, ""]);
  },
);

test("ownsServer speaks for the whole server, whoever else listens", async () => {
  const server = createServer((_, response) => response.end("host"));
  const { dial, call } = await serve({ ownsServer: true }, server);
  expect((await call({ path: "/" })).body).toBe("host");
  const wire = await dial();
  wire.send(GARBAGE);
  expect((await wire.answer()).body).toContain('"bad_request"');
});

test("handleClientErrors does it on a host's own server, until it is undone", async () => {
  const { store, key } = await makeStore();
  const handle = createNodeHandler(store);
  const server = createServer((request, response) => {
    handle(request, response, () => response.end("host"));
  });
  const { dial, call } = await listen(server, key);
  const before = { own: Object.keys(server), events: server.eventNames() };
  const undo = handleClientErrors(server, store);
  const bodyOf = async (bytes: string): Promise<string> => {
    const wire = await dial();
    wire.send(bytes.replace("{key}", key));
    return (await wire.answer()).body;
  };
  expect(await bodyOf(GARBAGE)).toContain('"bad_request"');
  expect(await bodyOf("GET / HTTP/1.1\r\n\r\n")).toContain("The Host header is missing.");
  expect(await bodyOf(post(PET).replace("29", "29\r\nContent-Length: 29"))).toContain(
    '"bad_request"',
  );
  expect((await call({ path: "/" })).body).toBe("host");
  undo();
  undo();
  expect({ own: Object.keys(server), events: server.eventNames() }).toEqual(before);
  expect(Object.hasOwn(server, "emit")).toBe(false);
  expect(await bodyOf(GARBAGE)).toBe("");
  expect(await bodyOf("GET / HTTP/1.1\r\n\r\n")).toBe("");
});

test("mounts on one server share the check for a Host and give it back with the last", async () => {
  const { store, key } = await makeStore();
  const server = createServer((_, response) => response.end("host"));
  const unmounts = [mount(server, store), mount(server, store, { basePath: "/v2" })];
  const { call, dial } = await listen(server, key);
  const hostless = async (path: string): Promise<[number, string]> => {
    const wire = await dial();
    wire.send(`GET ${path} HTTP/1.1\r\n\r\n`);
    const { status, body } = await wire.answer();
    return [status, body];
  };
  expect(await hostless("/v1/pets")).toEqual([400, expect.stringContaining("bad_request")]);
  expect(await hostless("/v2/pets")).toEqual([400, expect.stringContaining("bad_request")]);
  expect(await hostless("/")).toEqual([400, ""]);
  unmounts[0]?.();
  expect(await hostless("/v2/pets")).toEqual([400, expect.stringContaining("bad_request")]);
  unmounts[1]?.();
  expect(await hostless("/v2/pets")).toEqual([400, ""]);
  expect((await call({ path: "/" })).body).toBe("host");
});

test("a server that asks for no Host answers its own requests without one, also when unmounted", async () => {
  const server = createServer({ requireHostHeader: false }, (_, response) => response.end("host"));
  const { store, key } = await makeStore();
  const unmount = mount(server, store);
  const { dial } = await listen(server, key);
  const hostless = async (): Promise<number> => {
    const wire = await dial();
    wire.send("GET / HTTP/1.1\r\n\r\n");
    return (await wire.answer()).status;
  };
  expect(await hostless()).toBe(200);
  unmount();
  expect(await hostless()).toBe(200);
});

test("a host's answer that has begun is delivered whole before the refusal of what follows it", async () => {
  const { store, key } = await makeStore();
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Length": "10" }).write("hello");
    server.once("go on", () => response.end("world"));
  });
  mount(server, store, { ownsServer: true });
  const { dial } = await listen(server, key);
  const wire = await dial();
  wire.send(compose({ path: "/" }) + GARBAGE);
  wire.send(GARBAGE);
  await once(wire.socket, "data");
  server.emit("go on");
  expect((await wire.answer()).body).toBe("helloworld");
  expect((await wire.answer()).body).toContain('"bad_request"');
  expect(await wire.rest()).toBe("");
});

test("a host that still waits for a broken body is answered for, after what came before", async () => {
  const { store, key } = await makeStore();
  const server = createServer((request, response) => {
    if (request.method === "GET") server.once("go on", () => response.end("first"));
    else request.resume().on("end", () => response.end("second"));
  });
  mount(server, store, { ownsServer: true });
  const { dial, call } = await listen(server, key);
  const wire = await dial();
  wire.send(compose({ path: "/" }));
  wire.send(
    compose({ path: "/", method: "POST", headers: ["Transfer-Encoding: chunked"] }) + "zz\r\n",
  );
  // A turn of the server later it has read both.
  await call();
  server.emit("go on");
  expect((await wire.answer()).body).toContain("first");
  expect((await wire.answer()).body).toContain('"bad_request"');
  expect(await wire.rest()).toBe("");
});

test("a client that goes away in the middle of anything leaves nothing behind", async () => {
  const { dial, call, key, server } = await serve();
  for (const bytes of ["GET", "GET / HTTP/1.1\r\nHos", compose({ key }) + GARBAGE, GARBAGE]) {
    const wire = await dial();
    wire.send(bytes);
    wire.socket.resetAndDestroy();
    await once(wire.socket, "close");
  }
  expect((await call()).status).toBe(200);
  await expect.poll(() => connectionsOf(server)).toBe(0);
});

function connectionsOf(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

test("onUnreadable sees the response before it is written", async () => {
  const { dial } = await serve({
    onUnreadable: (response) => void response.setHeader("X-Seen", response.req.url ?? ""),
  });
  const wire = await dial();
  wire.send(GARBAGE);
  const { status, headers } = await wire.answer();
  expect([status, headers["x-seen"]]).toEqual([400, ""]);
});

test.each<[does: string, onUnreadable: (response: ServerResponse) => unknown]>([
  ["ends the response", (response) => response.end()],
  ["begins the response", (response) => response.write("x")],
  ["destroys the response", (response) => response.destroy()],
])("an onUnreadable that %s harms nobody else", async (_, onUnreadable) => {
  const { dial, call } = await serve({ onUnreadable: (response) => void onUnreadable(response) });
  const wire = await dial();
  wire.send(GARBAGE);
  await wire.rest();
  expect((await call()).status).toBe(200);
});

test("an onUnreadable that rejects is reported, and the answer goes out", async () => {
  const causes: unknown[] = [];
  const { dial } = await serve({
    onError: (cause) => causes.push(cause),
    onUnreadable: () => Promise.reject(new Error("no log")) as unknown as undefined,
  });
  const wire = await dial();
  wire.send(GARBAGE);
  expect((await wire.answer()).status).toBe(400);
  expect(causes).toEqual([new Error("no log")]);
});

test("empty lines without end before a message that is too long cost their length, not its square", () => {
  const error = Object.assign(new Error("overflow"), {
    code: "HPE_HEADER_OVERFLOW",
    rawPacket: Buffer.from(`${"\r\n".repeat(500_000)}GET / HTTP/1.1\r\nX: aaaa`),
    bytesParsed: 1_000_022,
  });
  expect(refusalOf(error)?.code).toBe("headers_too_large");
});

test.each([
  [999, 200],
  [1_000, 431],
])("a header section of %i lines is %i", async (lines, status) => {
  const { call } = await serve();
  // Host and Authorization are two of them.
  const headers = Array.from({ length: lines - 2 }, () => "a:b");
  expect((await call({ headers })).status).toBe(status);
});

test("1,000 lines are 431 also where Node has dropped the Host among them", async () => {
  const { store, key } = await makeStore();
  const server = createServer(createNodeHandler(store));
  handleClientErrors(server, store);
  const { dial } = await listen(server, key);
  const wire = await dial();
  wire.send(`GET /v1/pets HTTP/1.1\r\n${"a:b\r\n".repeat(1_100)}Host: a\r\n\r\n`);
  expect((await wire.answer()).status).toBe(431);
});
