import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { hostTimers } from "../../../scripts/fake-timers.js";
import { compose, HURRIED, serve, timersOf } from "./support/serve.js";

test.each([Infinity, 2_147_484])(
  "requests that are under way or still arrive get responses with Connection: close, with the deadline %s",
  async (timeoutSeconds) => {
    const { server, dial, key } = await serve({
      fallback: ({ url }, response) => {
        if (url === "/") server.once("release", () => response.end("late"));
        else response.end("host");
      },
    });
    const [unused, idle] = [await dial(), await dial()];
    expect((await idle.exchange(compose({ key }))).status).toBe(200);
    const asked = once(server, "request");
    const early = await dial(compose({ path: "/" }));
    const half = await dial(compose({ key }).slice(0, -2));
    await asked;
    const drained = server.drain({ timeoutSeconds });
    const headers = { connection: "close" };
    expect(await idle.exchange(compose({ path: "/host" }))).toMatchObject({ headers });
    expect(await half.exchange("\r\n")).toMatchObject({ status: 200, headers });
    expect([await half.rest(), await unused.rest()]).toEqual(["", ""]);
    server.emit("release");
    expect(await early.rest()).toContain("late");
    await drained;
  },
);

test("connections that stay idle are closed, those that were never used too", async () => {
  const limits = { keepAliveTimeoutSeconds: 0, timeoutSeconds: 0 };
  const { server, dial, key } = await serve({ limits });
  const timers = timersOf();
  const [unused, idle] = [await dial(), await dial()];
  expect((await idle.exchange(compose({ key }))).headers["connection"]).not.toBe("close");
  await server.drain({ timeoutSeconds: 3_600 });
  expect([await unused.rest(), await idle.rest()]).toEqual(["", ""]);
  await expect.poll(timersOf, { timeout: 5_000 }).toBeLessThan(timers);
});

test("a request that is never completed is told 408, as before", async () => {
  const { server, dial, key } = await serve({ limits: HURRIED });
  const half = await dial();
  const drained = server.drain({ timeoutSeconds: 3_600 });
  expect((await half.exchange(compose({ key }).slice(0, -2))).status).toBe(408);
  await drained;
});

test("connections that are still open at the deadline are cut", async () => {
  const { server, dial, port, key } = await serve({ fallback: () => undefined });
  const asked = once(server, "connect");
  const stuck = await dial(`${compose({ path: "/" })}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
  const slow = await dial(compose({ key }).slice(0, 20));
  await asked;
  hostTimers();
  await server.drain({ timeoutSeconds: 0.05 });
  expect([await stuck.rest(), await slow.rest()]).toEqual(["", ""]);
  const [error] = (await once(connect(port, "127.0.0.1"), "error")) as [Error];
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a connection that the system has accepted, but the server has not yet, gets its response", async () => {
  const { server, port, key } = await serve();
  const state = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(
    `const { connect } = require("node:net");
    const { workerData: { port, message, state }, parentPort } = require("node:worker_threads");
    let [text, sent] = ["", 0];
    for (let count = 0; count < 50; count += 1) {
      const socket = connect(port, "127.0.0.1", () => socket.write(message, () => {
        sent += 1;
        if (sent === 50) { Atomics.store(state, 0, 1); Atomics.notify(state, 0); }
      }));
      socket.on("data", (data) => (text += data)).on("error", (error) => (text += error));
    }
    process.on("exit", () => parentPort.postMessage(text));`,
    { eval: true, workerData: { port, message: compose({ key }), state } },
  );
  const received = once(client, "message") as Promise<[string]>;
  expect(Atomics.wait(state, 0, 0, 60_000)).toBe("ok");
  await server.drain({ timeoutSeconds: 60 });
  const [text] = await received;
  expect(text.match(/HTTP\/1\.1 \d+|Error.*/g)).toEqual(Array(50).fill("HTTP/1.1 200"));
});
