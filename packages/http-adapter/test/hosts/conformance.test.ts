import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import type { ConformanceCase } from "../support/conformance/case.js";
import { conformanceCases } from "../support/conformance/cases.js";
import { contentCases } from "../support/conformance/content.js";
import { runCase } from "../support/conformance/run-case.js";
import { issue } from "../support/serve.js";
import * as express from "./express.js";
import * as fastify from "./fastify.js";
import * as hono from "./hono.js";
import { startHost, type Host } from "./host.js";
import { koa } from "./koa.js";
import * as node from "./node.js";

/** Every which row is tried: each of them in CI. By default, `test/conformance` tries all of them on one server. */
const STRIDE = sized(5, 1, 1);

const reachingTheStore = conformanceCases.filter(({ ownServerOnly }) => ownServerOnly !== true);
/** Rows that Fastify refuses by itself: methods that it does not know, targets that it cannot decode. */
const FASTIFY = /^(?:TRACE|PROPFIND|PURGE|LOCK) |^the pet %(?:zz)?$/;

test.each<[Host, rows: readonly ConformanceCase[]]>([
  [node.plain, reachingTheStore],
  [fastify.createHost("", "/v1"), reachingTheStore.filter(({ name }) => !FASTIFY.test(name))],
  [express.plain, reachingTheStore],
  [koa, reachingTheStore],
  // Its server is responsible for the rest.
  [hono.createHost("/v1"), contentCases],
])("$name conforms in all that reaches the store", async (host, rows) => {
  const { store, port } = await startHost(host);
  const key = await issue(store, { perMinute: 1_000, perDay: 1_000 });
  // At once: many wait for a connection to close.
  const outcomes = rows
    .filter((_, index) => index % STRIDE === 0)
    .map((row) =>
      runCase(row, port, key).catch((reason: unknown) => `${row.name}: ${String(reason)}`),
    );
  expect((await Promise.all(outcomes)).filter((each) => each !== undefined)).toEqual([]);
  expect(rows.length).toBeGreaterThan(90);
});
