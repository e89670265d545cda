import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.js";
import type { ConformanceCase } from "../support/conformance/case.js";
import { conformanceCases } from "../support/conformance/cases.js";
import { contentCases } from "../support/conformance/content.js";
import { runCase } from "../support/conformance/run-case.js";
import { issue } from "../support/serve.js";
import { startBench } from "./bench.js";
import * as express from "./express-hosts.js";
import * as fastify from "./fastify-hosts.js";
import * as hono from "./hono-hosts.js";
import type { Host } from "./host.js";
import * as koa from "./koa-hosts.js";
import * as node from "./node-hosts.js";

/** Every which row is tried: each of them in CI. By default, `test/conformance` tries all of them on one server. */
const STRIDE = sized(5, 1, 1);

/** Rows that Fastify refuses by itself: methods that it does not know, targets that it cannot decode. */
const FASTIFY = /^(?:TRACE|PROPFIND|PURGE|LOCK) |^the pet %(?:zz)?$/;

test.each<[Host, skips?: RegExp]>([
  [node.plain],
  [fastify.createHost("", "/v1"), FASTIFY],
  [express.plain],
  [koa.createHost("app.use")],
])("$name conforms in all that reaches the store", async (host, skips) => {
  const rows = conformanceCases.filter(
    ({ name, ownServerOnly }) => ownServerOnly !== true && skips?.test(name) !== true,
  );
  expect(rows.length).toBeGreaterThan(150);
  expect(await failures(host, rows)).toEqual([]);
});

test("Hono conforms in content; its server is responsible for the rest", async () => {
  expect(await failures(hono.createHost("/v1"), contentCases)).toEqual([]);
});

/** Runs the rows on one host at once: many wait for a connection to close. */
async function failures(host: Host, rows: readonly ConformanceCase[]): Promise<string[]> {
  const { store, port } = await startBench(host);
  const key = await issue(store, { perMinute: 1_000, perDay: 1_000 });
  const tried = rows.filter((_, index) => index % STRIDE === 0);
  const outcomes = tried.map((row) =>
    runCase(row, port, key).then(
      () => [],
      (reason: unknown) => [`${row.name}: ${String(reason)}`],
    ),
  );
  return (await Promise.all(outcomes)).flat();
}
