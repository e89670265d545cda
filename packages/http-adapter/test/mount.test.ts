import { once } from "node:events";
import { createServer, Server, type RequestListener, type ServerOptions } from "node:http";
import { connect, createServer as createHttp2Server, createSecureServer } from "node:http2";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createNodeHandler, createPetStoreServer, mount } from "@petstore/http-adapter";
import { petStorePlugin } from "@petstore/http-adapter";
import fastify from "fastify";
import { expect, test } from "vitest";
import { portOf } from "../../../scripts/ports.js";
import { words } from "./support/conformance/case.js";
import { compose, errorOf, listen, makeStore, PET, serve, serveHandler } from "./support/serve.js";
import { mountedOn, start, type Call } from "./support/serve.js";

const host: RequestListener = (_, response) => response.end("host");
const EXPECTING: Call = { method: "POST", body: PET, headers: ["Expect: 100-continue"] };

const mounted = (listener?: RequestListener, options: ServerOptions = {}) =>
  start((store) => mountedOn(createServer(options, listener), store));

test("listeners from before and after the mount get the requests outside the base path, and only those", async () => {
  const seen: string[] = [];
  const { server, call } = await mounted(host);
  server.on("request", ({ url = "" }) => seen.push(url));
  expect([(await call({ path: "/" })).body, (await call()).body]).toEqual(["host", "[]"]);
  expect([(await call({ path: "/v1" })).status, seen]).toEqual([404, ["/"]]);
});

test("without listeners, elsewhere is 404 with an Error body, at no cost", async () => {
  const { server, store, call } = await mounted();
  mount(server, store, { basePath: "/v2" });
  const headers = { "x-ratelimit-remaining": "60" };
  expect(await call({ path: "/" })).toMatchObject({ ...errorOf(404, "not_found"), headers });
  expect((await call()).headers["x-ratelimit-remaining"]).toBe("59");
});

test("the parser's refusals, CONNECT and unknown expectations stay the host's", async () => {
  const { server, key, dial, call } = await mounted(host);
  // Of more header lines than Node keeps, Node or the store refuses them.
  expect((await call({ headers: Array<string>(3_000).fill("a:") })).status).toBe(431);
  server.maxHeadersCount = 40;
  expect((await call({ headers: Array<string>(90).fill("a:b") })).status).toBe(431);
  const responseTo = async (bytes: string): Promise<string> => (await dial(bytes)).rest();
  const refused = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
  expect(await responseTo("\x01\r\n\r\n")).toBe(refused);
  expect(await responseTo("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")).toBe("");
  expect((await call({ headers: ["Expect: cake"] })).body).toBe("");
  server.on("clientError", (_, socket) => socket.end("HTTP/1.1 499 Own\r\n\r\n"));
  server.on("checkExpectation", (_, response) => response.end("cake"));
  server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 498 Own\r\n\r\n"));
  expect(await responseTo("\x01\r\n\r\n")).toContain("499");
  expect((await call({ headers: ["Expect: cake"] })).body).toBe("cake");
  const upgrade = compose({ key, headers: ["Connection: Upgrade", "Upgrade: websocket"] });
  expect(await responseTo(upgrade)).toContain("498");
});

test("on a host's server Node sends 100 Continue, unless the host listens for checkContinue", async () => {
  const { server, key, dial } = await mounted();
  const statusOf = async (sent: Call): Promise<number> =>
    (await (await dial(compose({ ...EXPECTING, ...sent }))).response()).status;
  expect(await statusOf({})).toBe(100);
  server.on("checkContinue", (_, reply) => reply.writeHead(403, { "Content-Length": 0 }).end());
  expect([await statusOf({}), await statusOf({ key })]).toEqual([401, 100]);
  expect(await statusOf({ path: "/" })).toBe(403);
});

test("a client that may still send its body after a refusal is not reset", async () => {
  const { server, dial } = await mounted();
  server.on("checkContinue", host);
  const connected = once(server, "connection") as Promise<[Socket]>;
  await dial(compose(EXPECTING));
  const [ours] = await connected;
  await once(ours, "finish");
  expect(ours.destroyed).toBe(false);
});

test("a mount touches no other server and no prototype", async () => {
  const ownEmit = () => Object.getOwnPropertyDescriptor(Server.prototype, "emit")?.value as unknown;
  const before = ownEmit();
  const { store, call } = await start(() => createServer(host));
  mount(createServer(), store);
  expect([ownEmit(), (await call()).body]).toEqual([before, "host"]);
});

test("two stores live on one server, and both can be unmounted, in any order, also twice", async () => {
  const [one, other] = [await makeStore(), await makeStore()];
  const server = createServer(host);
  const unmountOne = mount(server, one.store, { basePath: "/one/v1" });
  const unmountOther = mount(server, other.store, { basePath: "/two/v1" });
  const { call } = await listen(server, one.key);
  const sent = [{ path: "/one/v1/pets" }, { path: "/two/v1/pets", key: other.key }, { path: "/" }];
  const bodies = () => Promise.all(sent.map(async (each) => (await call(each)).body));
  expect(await bodies()).toEqual(["[]", "[]", "host"]);
  unmountOne();
  unmountOne();
  expect(await bodies()).toEqual(["host", "[]", "host"]);
  unmountOther();
  expect(await bodies()).toEqual(["host", "host", "host"]);
});

test("a second store at the same base path is refused, until the first is unmounted", async () => {
  const [{ store }, other] = [await makeStore(), await makeStore()];
  const server = createServer(host);
  const unmount = mount(server, store);
  expect(() => mount(server, other.store)).toThrow(/has a store at the base path "\/v1"$/);
  unmount();
  mount(server, other.store);
  unmount();
  expect(() => mount(server, store)).toThrow(TypeError);
  const { call } = await listen(server, other.key);
  expect((await call()).body).toBe("[]");
});

test.each([
  ["/v1", "/v1/inner", ""],
  ["", "/v1/inner", "/v1"],
])("of nested base paths, the longest takes a request, in any order", async (...basePaths) => {
  const server = createServer(host);
  const keys = new Map<string, string>();
  for (const basePath of basePaths) {
    const { store, key } = await makeStore();
    mount(server, store, { basePath });
    keys.set(basePath, key);
  }
  const { call } = await listen(server, "");
  for (const [basePath, key] of keys)
    expect((await call({ path: `${basePath}/pets?x=/v1`, key })).body).toBe("[]");
});

test("a server that is not of HTTP/1.1 is refused, and one of ours, because its requests wait for each other and it drains", async () => {
  const { store } = await makeStore();
  for (const server of [createHttp2Server(), createSecureServer(), undefined] as unknown[])
    expect(() => mount(server as Server, store)).toThrow(/HTTP\/2 is not supported/);
  expect(() => mount(createPetStoreServer(store), store)).toThrow(/createPetStoreServer/);
});

test("a request of HTTP/2 is refused with an error that says so, also by Fastify", async () => {
  const { store } = await makeStore();
  const handle = createNodeHandler(store);
  const app = fastify({ http2: true });
  await app.register(petStorePlugin as never, { store });
  await app.ready();
  const handling = createHttp2Server((request, response) => {
    try {
      handle(request as never, response as never);
    } catch (error) {
      response.end(String(error));
    }
  });
  for (const server of [handling, app.server]) {
    const client = connect(`http://127.0.0.1:${await portOf(server)}`);
    const body = await text(client.request({ ":path": "/v1/pets" }));
    expect(body).toContain("HTTP/2 is not supported");
    client.close();
    server.close();
  }
});

test("HEAD has a response on a server that rejects writes without a body", async () => {
  const { call } = await mounted(undefined, { rejectNonStandardBodyWrites: true });
  expect((await call({ method: "HEAD" })).status).toBe(200);
});

const elsewhere =
  words(`//evil/v1/pets /V1/pets /v1x/pets /v1%2fpets /%761/pets / /../v1/pets /x/v1/pets *
  http://pets.test http://pets.test?/v1/pets ftp://pets.test/v1/pets http:///v1/pets
  http://user:secret@pets.test/v1/pets`);

test.each(elsewhere)("%s is not below the base path: the host's", async (path) => {
  const { call } = await serve({ fallback: host });
  expect((await call({ path, method: path === "*" ? "OPTIONS" : "GET" })).body).toBe("host");
});

test("as the listener of a server it responds to everything: elsewhere with 404", async () => {
  const { call } = await serveHandler((handle) => handle);
  expect((await call()).status).toBe(200);
  expect((await call({ path: "/" })).body).toContain('"not_found"');
  // The first check is the message's own syntax, as on a server of ours.
  expect((await call({ path: "/", headers: ["Host: b"] })).status).toBe(400);
});

test("as the fallback of a server of ours it serves a second store", async () => {
  const { store, key } = await makeStore();
  const { call } = await serve({ fallback: createNodeHandler(store, { basePath: "/v2" }) });
  expect((await call({ path: "/v2/pets", key })).status).toBe(200);
  expect((await call({ path: "/" })).status).toBe(404);
});

test('with the base path "" everything that arrives is below it', async () => {
  const { call } = await serve({ basePath: "" });
  const statusOf = async (path: string) => (await call({ path })).status;
  expect(await Promise.all(["/pets", "/", "//evil/pets"].map(statusOf))).toEqual([200, 404, 404]);
  expect((await call({ path: "/", key: null })).status).toBe(401);
});
