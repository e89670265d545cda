import { once } from "node:events";
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { mount, pollForRequests } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import { compose, listen, makeStore, serve, type Listening, type Served } from "./support/serve.js";
import type { Wire } from "./support/wire.js";

/** A server that polls turns the event loop a hundred times after a response. A request, its response and the runner turn it less often. */
const FEW = 60;

const REQUEST = compose({});

const turns = (): number => performance.nodeTiming.uvMetricsInfo.loopCount;

/** Resolves when the event loop sleeps most of the time. On a busy machine, a process may pause while it polls. */
async function untilIdle(): Promise<void> {
  for (let idle = 0; idle < 3;) {
    const before = turns();
    await setTimeout(10);
    idle = turns() - before > 10 ? 0 : idle + 1;
  }
}

/** Sends so many requests over a connection, each when the process sleeps. Resolves to the turns of each. */
async function turnsOf({ dial }: Listening, requests: number): Promise<readonly number[]> {
  const wire = await dial();
  const counts: number[] = [];
  for (let sent = 0; sent < requests; sent += 1) {
    await untilIdle();
    const before = turns();
    await wire.exchange(REQUEST);
    await untilIdle();
    counts.push(turns() - before);
  }
  return counts;
}

async function polling(): Promise<Served> {
  const served = await serve();
  pollForRequests(served.server);
  return served;
}

const havePolled = (counts: readonly number[]): readonly boolean[] =>
  counts.map((count) => count > 80);

test("a server polls less and less often for requests that do not come", async () => {
  const polled = havePolled(await turnsOf(await polling(), 8));
  expect(polled).toEqual([true, false, true, false, false, false, true, false]);
});

/** Sends a request on each connection as soon as the response on the one before has come. */
async function sendInTurn(...wires: readonly Wire[]): Promise<void> {
  await untilIdle();
  for (const wire of wires) await wire.exchange(REQUEST);
}

test("a caller that sends the next request at once keeps the server polling", async () => {
  const served = await polling();
  const wire = await served.dial();
  await sendInTurn(wire, wire);
  // The server has polled in vain only after the second response.
  expect(havePolled(await turnsOf(served, 3))).toEqual([false, true, false]);
});

test("a request on another connection counts as polling in vain", async () => {
  const served = await polling();
  await sendInTurn(await served.dial(), await served.dial());
  // It has not polled after the second response.
  expect(havePolled(await turnsOf(served, 3))).toEqual([true, false, false]);
});

test("only a server that is told to polls, and only for its own requests", async () => {
  const [served, other] = [await polling(), await serve()];
  const [few] = await turnsOf(other, 1);
  expect(few).toBeLessThan(FEW);
  const [count] = await turnsOf(served, 1);
  expect(count).toBeGreaterThanOrEqual(100);
});

test("a host can let the server of a mounted store poll, before or after it listens", async () => {
  const { store, key } = await makeStore();
  for (const isBefore of [true, false]) {
    const server = createServer();
    mount(server, store);
    if (isBefore) pollForRequests(server);
    const listening = await listen(server, key);
    if (!isBefore) pollForRequests(server);
    expect(havePolled(await turnsOf(listening, 1))).toEqual([true]);
  }
});

test("a server that listens again polls again, once for each response", async () => {
  const served = await polling();
  expect(havePolled(await turnsOf(served, 1))).toEqual([true]);
  const { server, key } = served;
  server.closeAllConnections();
  await once(server.close(), "close");
  const again = await listen(server, key);
  expect(havePolled(await turnsOf(again, 3))).toEqual([false, true, false]);
});
