import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ConformanceCase } from "../packages/http-adapter/test/support/conformance/case.js";
import { conformanceCases } from "../packages/http-adapter/test/support/conformance/cases.js";
import { runCase, sendCase } from "../packages/http-adapter/test/support/conformance/run-case.js";
import { serveAnew, SERVERS } from "./served-program.js";

/**
 * The names of rows that do not hold on a server in Bun or Deno; the status of the first response there, or `closed`
 * if the connection is closed without one; and why. docs/embedding.md says it too.
 */
type Difference = readonly [RegExp, number | "closed", string];

const STAYS_OPEN = "the connection stays open";
const NORMALISED = "the URL of a Request is normalised";
const HAS_FRAGMENT = "the URL of a Request has a fragment";
const HAS_TO_CLOSE = "the client has to close";
const UNNOTICED = "a client that closes only its side is not noticed";

const differences: Readonly<Record<string, readonly Difference[]>> = {
  "Bun.serve": [
    [/^the version HTTP\/|^HTTP\/0\.9|(?:RTSP|ICE)\/1/, 505, "Bun refuses the version"],
    [/^empty lines before/, 400, "Bun refuses empty lines"],
    [/^a trailer$/, 400, "Bun refuses trailers"],
    [/^a declared length of 2\^6/, 400, "Bun refuses the length"],
    [/^Transfer-Encoding in HTTP\/1\.0$/, 400, "Bun refuses the coding"],
    [/ at once$|^a GET with a body, then another$/, "closed", "Bun does not pipeline"],
    [/^two Hosts$|^a Host of (?!.* is one$)/, 400, STAYS_OPEN],
    [/^chunks beyond the limit$|^a declared length of one|^413 wins over 415/, 413, STAYS_OPEN],
    [/^a refused chunked body$/, 405, STAYS_OPEN],
    [/^an upgrade to h2c/, 201, STAYS_OPEN],
    [/^Connection: close$/, 200, "no Connection header is sent"],
    [/^an upgrade is ignored$/, 200, STAYS_OPEN],
    [/^\/v1\/(?:\.|%2e)/, 200, NORMALISED],
    [/^\/v1\/pets#x/, 200, HAS_FRAGMENT],
    [/^\/v1\/pets\\1/, 404, NORMALISED],
    [/^the base path alone/, 200, "the example's route begins behind it"],
  ],
  "Deno.serve": [
    [/^the version HTTP\/|^HTTP\/0\.9|(?:RTSP|ICE)\/1/, 400, "Deno refuses the version"],
    [/^two Hosts$/, 400, "Deno refuses two Hosts"],
    [/^Transfer-Encoding in HTTP\/1\.0$/, 400, "Deno refuses the coding"],
    [/^an upgrade to h2c/, 400, "Deno refuses the upgrade of a POST"],
    [/^a Host of u@a$/, 400, STAYS_OPEN],
    [/^a Host of (?!u@a$|.* is one$)/, 200, "the URL is then not below the base path"],
    [/^chunks beyond the limit$/, 413, STAYS_OPEN],
    [/^a declared length|^413 wins over 415/, 413, HAS_TO_CLOSE],
    [/^a refused chunked body$/, 405, HAS_TO_CLOSE],
    [/^an upgrade is ignored$/, 200, STAYS_OPEN],
    [/^\/v1\/pets#x/, 200, HAS_FRAGMENT],
    [/^the base path alone/, 200, "the example's pattern begins behind it"],
  ],
  "a server of ours in Bun": [
    [/^a method of 20,000 bytes$/, 431, "Bun limits the line first"],
    [/^OPTIONS \*$/, 400, "Bun refuses the target"],
    [/^a declared length of 2\^6/, 400, "Bun refuses the length"],
    [/^the same Content-Length twice$/, 201, "Bun accepts equal lengths"],
  ],
  "a server of ours in Deno": [
    [/cut short$/, "closed", UNNOTICED],
    [/^a (?:chunked )?body that ends early$/, 408, UNNOTICED],
    [/^a chunk extension of 20,000 bytes$/, 408, "the extension is waited for"],
  ],
};

test.each(SERVERS)("%s conforms, but for the rows listed", async (server, runtime, program) => {
  const { port, key } = await serveAnew(runtime, program);
  const listed = differences[server] ?? [];
  const rows = conformanceCases.filter(
    ({ ownServerOnly }) => program === "own-server.ts" || ownServerOnly !== true,
  );
  const check = async (row: ConformanceCase): Promise<void> => {
    const difference = listed.find(([names]) => names.test(row.name));
    if (difference === undefined) return runCase(row, port, key);
    const [, first, reason] = difference;
    const wire = await sendCase(row, port, key);
    const response = await wire.response().catch(() => ({ status: "closed" }));
    wire.socket.destroy();
    expect(response.status, reason).toBe(first);
  };
  const failures: string[] = [];
  const checks = rows.map(async (row) => {
    // A row waits for a response, or for the end of its connection.
    const late = setTimeout(60_000, "not ended after 60 seconds", { ref: false });
    const failure = await Promise.race([check(row).catch(String), late]);
    if (failure !== undefined) failures.push(`${row.name}: ${failure}`);
  });
  await Promise.all(checks);
  expect(failures).toEqual([]);
  expect(listed.filter(([names]) => !rows.some(({ name }) => names.test(name)))).toEqual([]);
  expect(rows.length).toBeGreaterThan(150);
});
