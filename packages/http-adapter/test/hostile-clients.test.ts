import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createNodeHandler, mount } from "@petstore/http-adapter";
import type { PetStore } from "@petstore/core";
import express from "express";
import { expect, test } from "vitest";
import { compose, listen, makeStore } from "./support/serve.js";

const CLOSING = "GET /closing HTTP/1.1\r\nHost: pets.test\r\n\r\n";
const pet = '{"name":"Rex","categoryId":1}';

/** The host's own page: its response closes the connection. */
const closingPage: RequestListener = (_, response) => {
  response.writeHead(405, { Connection: "close", "Content-Length": 2 }).end("no");
};

const hosts: readonly (readonly [name: string, start: (store: PetStore) => Server])[] = [
  [
    "mount",
    (store) => {
      const server = createServer(closingPage);
      mount(server, store);
      return server;
    },
  ],
  [
    "createNodeHandler in a listener",
    (store) => {
      const handle = createNodeHandler(store);
      return createServer((request, response) => {
        handle(request, response, () => closingPage(request, response));
      });
    },
  ],
  ["Express", (store) => createServer(express().use(createNodeHandler(store)).use(closingPage))],
];

test.each(hosts)(
  "%s: nothing is performed behind a response of the host that closes the connection, and nothing breaks",
  async (_, start) => {
    const { store, key } = await makeStore();
    const { dial } = await listen(start(store), key);
    const post = compose({ method: "POST", key, body: pet }) + pet;
    for (const segment of [CLOSING + post + compose({ key }), CLOSING + post + post + post]) {
      for (let count = 0; count < 10; count += 1) {
        const wire = await dial();
        wire.send(segment);
        expect((await wire.response()).status).toBe(405);
        expect(await wire.rest()).toBe("");
      }
    }
    expect((await store.trusted.listPets())._unsafeUnwrap().pets).toEqual([]);
  },
);

test.each([
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  [
    "a bad chunk",
    "POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
  ],
])("%s and a reset leave no timer and no socket behind", async (_, bytes) => {
  const { store, key } = await makeStore();
  const server = createServer();
  mount(server, store);
  const { dial } = await listen(server, key);
  for (let count = 0; count < 60; count += 1) {
    const { socket } = await dial();
    socket.write(bytes, () => socket.resetAndDestroy());
    await once(socket, "close");
  }
  await expect
    .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
    .toBe(0);
  // The server's own check for slow requests may be one.
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await expect.poll(timers).toBeLessThanOrEqual(3);
});
