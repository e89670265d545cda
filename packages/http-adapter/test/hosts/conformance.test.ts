import { createServer } from "node:http";
import { handleClientErrors } from "@petstore/http-adapter";
import { expect, test } from "vitest";
import type { ConformanceCase } from "../support/conformance/case.js";
import { conformanceCases } from "../support/conformance/cases.js";
import { contentCases } from "../support/conformance/content.js";
import { runCase } from "../support/conformance/run-case.js";
import { startBench } from "./bench.js";
import * as express from "./express-hosts.js";
import * as fastify from "./fastify-hosts.js";
import * as hono from "./hono-hosts.js";
import type { Host } from "./host.js";
import * as koa from "./koa-hosts.js";
import * as node from "./node-hosts.js";

/** A request that goes to the store, as far as it can be read. */
const TO_STORE = /^\s*(?:\S+ (?:https?:\/\/[^/]*)?\/v1(?=[/? ])|(?!\S+ \S+ HTTP))/;

/** Rows that Node has answered before a handler or a middleware is called. */
const EXPECTATIONS = /^Expect: 100-continue (?:without|with too)/;

const fastifyHost = fastify.createHost("", "/v1");

test.each<[Host, skips?: RegExp]>([
  [node.plain],
  [fastifyHost],
  [express.plain, EXPECTATIONS],
  [koa.plain, EXPECTATIONS],
])("with handleClientErrors, $name conforms wherever the store is asked", async (host, skips) => {
  const rows = conformanceCases.filter(
    ({ name, request }) => TO_STORE.test(request) && skips?.test(name) !== true,
  );
  expect(rows.length).toBeGreaterThan(150);
  expect(await failures(host, rows)).toEqual([]);
});

test("Hono conforms in all that concerns content: the rest is its server's", async () => {
  expect(await failures(hono.createHost("/v1"), contentCases)).toEqual([]);
});

/** Runs each row on a host of its own, all at once: many wait for a connection to close. */
async function failures(host: Host, rows: readonly ConformanceCase[]): Promise<string[]> {
  const outcomes = rows.map(async (row) => {
    const { server = createServer(), store, port, key } = await startBench(host);
    handleClientErrors(server, store);
    return runCase(row, port, key).then(
      () => [],
      (reason: unknown) => [`${row.name}: ${String(reason)}`],
    );
  });
  return (await Promise.all(outcomes)).flat();
}
