import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { createNodeHandler, createPetStoreServer, petStorePlugin } from "@petstore/http-adapter";
import type { PetStore } from "@petstore/core";
import express from "express";
import fastify from "fastify";
import { describe, expect, test, vi } from "vitest";
import { fakeTimers } from "../../../scripts/fake-timers.js";
import { sized } from "../../../scripts/test-size.js";
import { compose, makeStore, PET, serve, serveHandler, start, timersOf } from "./support/serve.js";
import { mountedOn, type Call } from "./support/serve.js";

const closing: RequestListener = (_, response) => {
  response.writeHead(405, { Connection: "close", "Content-Length": "0" }).end();
};

function mountedOnBusy(store: PetStore): Server {
  const refuse = (_: unknown, socket: Duplex): void =>
    void socket.on("error", () => undefined).end("HTTP/1.1 501 Not Implemented\r\n\r\n");
  const server = mountedOn(createServer(closing), store).on("checkContinue", closing);
  return server.on("checkExpectation", closing).on("connect", refuse).on("upgrade", refuse);
}

const servers: readonly [name: string, create: (store: PetStore) => Promise<Server> | Server][] = [
  ["a server of ours", (store) => createPetStoreServer(store, { fallback: closing })],
  ["mount", (store) => mountedOn(createServer(closing), store)],
  ["mount with listeners of every event", mountedOnBusy],
  ["a handler", (store) => createServer(express().use(createNodeHandler(store)).use(closing))],
  [
    "Fastify",
    async (store) => {
      const app = fastify();
      await app.register(petStorePlugin, { store });
      app.all("/*", (_, reply) => void reply.code(405).header("Connection", "close").send());
      await app.listen({ port: 0, host: "127.0.0.1" });
      return app.server;
    },
  ],
];

const AT_ONCE = sized(1, 8, 40);
const { key: UNKNOWN } = await makeStore();

const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
const GARBAGE = "\x01\r\n\r\n";
const CHUNKED = ["Transfer-Encoding: chunked"];
const UPGRADE = ["Connection: Upgrade", "Upgrade: websocket"];
const postWith = (key: string | null): string => compose({ method: "POST", body: PET, key }) + PET;
const POST = postWith(null);
const WITH_KEY = compose({ key: UNKNOWN });
const DELETE_ELSEWHERE = compose({ path: "/docs", method: "DELETE" });
const badChunk = (call: Call): string =>
  `${compose({ method: "POST", headers: CHUNKED, key: null, ...call })}zz\r\n\r\n`;

/** Bytes that have ended a process, or left something behind, once. What is not caught makes the run fail. */
const sequences: readonly string[] = [
  CONNECT,
  WITH_KEY + CONNECT,
  compose({ headers: UPGRADE }),
  compose({ path: "/", headers: UPGRADE }),
  compose({ headers: ["Expect: 100-continue"] }) + POST + WITH_KEY,
  DELETE_ELSEWHERE + POST + compose({ path: "/v1", key: UNKNOWN }),
  DELETE_ELSEWHERE + compose({ path: "/readyz", body: "x" }) + "x" + WITH_KEY,
  WITH_KEY + DELETE_ELSEWHERE + POST + WITH_KEY.repeat(3),
  compose({ headers: ["Connection: close"] }) + POST + WITH_KEY.repeat(3),
  badChunk({}),
  badChunk({ key: UNKNOWN }),
  badChunk({ path: "/" }),
  compose({ key: UNKNOWN, method: "POST", headers: ["Content-Length: 100"] }) + "{",
  GARBAGE,
  POST + GARBAGE,
];

describe.each(servers)("%s", (_, create) => {
  test("bytes, then a reset, an end or silence: the server lives, and nothing is left", async () => {
    const attacked = await Promise.all(
      sequences.map(async (bytes) => ({ bytes, ...(await start(create)) })),
    );
    const timers = timersOf();
    const attacks = attacked.map(async ({ bytes, port, call }) => {
      for (const end of ["reset", "reset", "reset later", "end", "silence"])
        await Promise.all(Array.from({ length: AT_ONCE }, () => send(port, bytes, end)));
      expect((await call({ path: "/v1/pets?limit=1" })).status, bytes).toBe(200);
    });
    await Promise.all(attacks);
    for (const { server } of attacked) {
      const count = promisify(server.getConnections.bind(server));
      await expect.poll(count).toBe(0);
    }
    await until(() => timersOf() <= timers);
  });

  test("no request behind a response of the host that closes the connection is performed", async () => {
    const { store, key, dial } = await start(create);
    const post = postWith(key);
    for (const behind of [post, post + compose({ key, path: "/host" }), post.repeat(3)]) {
      const wire = await dial(DELETE_ELSEWHERE + behind);
      expect([(await wire.response()).status, await wire.rest()]).toEqual([405, ""]);
    }
    expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
  });

  test("a client that does not wait for its responses gets each in a later turn, and is not read ahead", async () => {
    const { server, dial } = await start(create);
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const wire = await dial(compose({ path: `/v1/${"x".repeat(100)}` }).repeat(4_000));
    const [ours] = await accepted;
    let [turns, left] = [0, 4_000];
    const received = (async () => {
      for (; left > 0; left -= 1) await wire.response();
    })();
    for (; left > 0; turns += 1) {
      if (left > 3_500) expect(ours.bytesRead).toBeLessThan(140_000);
      await setImmediate();
    }
    await received;
    expect(turns).toBeGreaterThan(3_000);
  });

  test("too many requests that wait end their connections at once, not those of others", async () => {
    const { server, call, dial } = await start(create);
    let seen = 0;
    server.on("request", () => (seen += 1));
    const flood = compose({ path: "/v1/x" }).repeat(1_000);
    const wires = await Promise.all(Array.from({ length: 12 }, () => dial(flood)));
    const isCut = ({ destroyed, bytesRead }: Socket) => destroyed && bytesRead < 200_000;
    await expect.poll(() => wires.some(({ socket }) => isCut(socket))).toBe(true);
    expect((await call()).status).toBe(200);
    expect(seen).toBeLessThan(6_000);
    for (const { socket } of wires) socket.destroy();
    await expect.poll(promisify(server.getConnections.bind(server))).toBe(0);
    const later = await dial(flood);
    for (let left = 1_000; left > 0; left -= 1) await later.response();
  });

  test("a refused body of 10 MB in chunks keeps its 413", async () => {
    const { key, dial } = await start(create);
    const wire = await dial(compose({ method: "POST", key, headers: CHUNKED }));
    wire.socket.pause();
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    for (let count = 0; count < 160; count += 1)
      if (!wire.socket.write(chunk)) await once(wire.socket, "drain");
    wire.socket.resume();
    expect([(await wire.response()).status, await wire.rest()]).toEqual([413, ""]);
  });
});

/** Starts a server of ours with a client that leaves its side open when the server ends its own. */
async function serveHalfOpen() {
  const served = await serve();
  const accepted = once(served.server, "connection") as Promise<[Socket]>;
  const client = connect({ port: served.port, host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => undefined);
  const [ours] = await accepted;
  return { ...served, client, ours };
}

test("a client that never stops sending after its last response is cut", async () => {
  const { store, key, client, ours } = await serveHalfOpen();
  client.write(compose({ method: "POST", headers: CHUNKED }));
  const requests = compose({ key }).repeat(1_000);
  const more = (): void => {
    if (client.writable) client.write(requests, more);
  };
  more();
  await once(ours, "close");
  client.destroy();
  expect(ours.bytesRead).toBeLessThan(70_000_000);
  expect((await store.as(key).admit())._unsafeUnwrap().quota.remaining).toBe(59);
});

test.each([
  ["nothing", 1_000, 0, 0],
  ["a byte now and then", 2_000, 1, 1],
  ["much, and then hardly anything", 4_000, 1_100_000, 1],
  ["much all the time", 10_000, 300_000, 300_000],
])("a client that sends %s after its last response has %i ms", async (_, after, first, later) => {
  fakeTimers("setTimeout", "clearTimeout", "setInterval", "clearInterval");
  const { client, ours } = await serveHalfOpen();
  client.resume().write(compose({ headers: ["Connection: close"] }));
  await once(ours, "finish");
  await setImmediate();
  let waited = 0;
  while (!ours.destroyed) {
    const bytes = waited === 0 ? first : later;
    const wanted = ours.bytesRead + bytes;
    client.write("x".repeat(bytes));
    await until(() => ours.bytesRead === wanted);
    vi.advanceTimersByTime(500);
    waited += 500;
    await setImmediate();
  }
  client.destroy();
  expect(waited).toBe(after);
});

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}

async function send(port: number, bytes: string, end: string): Promise<void> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  const closed = once(socket.resume(), "close");
  await once(socket, "connect");
  socket.write(bytes);
  if (end === "reset later") await setImmediate();
  if (end.startsWith("reset")) socket.resetAndDestroy();
  else if (end === "end") socket.end();
  else await Promise.race([closed, once(socket, "data")]);
  socket.destroy();
  await closed;
}

test("a host that calls the store for a later request first gets both responses, in order", async () => {
  const slow: (() => void)[] = [];
  const { dial, key } = await serveHandler((handle) => (request, response) => {
    const call = (): void => handle(request, response);
    if (request.headers["x-slow"] === undefined) call();
    else slow.push(call);
  });
  const both = compose({ key, headers: ["X-Slow: 1"] }) + compose({ path: "/v1/pets/1", key });
  const wire = await dial(both);
  await until(() => slow.length === 1);
  await setImmediate();
  slow.forEach((call) => call());
  expect([(await wire.response()).status, (await wire.response()).status]).toEqual([200, 404]);
});

test("a host that responds in the store's place keeps its response and the connection", async () => {
  const { server, store, key, dial, causes } = await serveHandler((handle) => handle);
  const asked = once(server, "request") as Promise<[unknown, ServerResponse]>;
  const wire = await dial(postWith(key).slice(0, -5));
  const [, response] = await asked;
  response.writeHead(503, { "Content-Length": 4 }).write("bu");
  wire.send(PET.slice(-5));
  await until(async () => (await store.trusted.getPet(1n)).isOk());
  await setImmediate();
  response.end("sy");
  expect(await wire.response()).toMatchObject({ status: 503, body: "busy" });
  expect([(await wire.exchange(compose({ key }))).status, causes]).toEqual([200, []]);
});

test("a closing response arrives although more than a hundred requests wait behind it", async () => {
  const large = "x".repeat(1_500_000);
  const { server, dial } = await serve({
    fallback: (request, response) => {
      if (request.url === "/large") response.end(large);
      else closing(request, response);
    },
  });
  const wire = await dial();
  wire.socket.pause();
  wire.send(compose({ path: "/large" }) + compose({ path: "/last" }) + compose({}).repeat(300));
  await once(server, "request");
  wire.send("x".repeat(300_000));
  // Longer than the silence after which the server closes a connection.
  await setTimeout(1_500);
  wire.socket.resume();
  const received = await wire.rest();
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 405"]);
  expect(received.length).toBeGreaterThan(large.length);
});
