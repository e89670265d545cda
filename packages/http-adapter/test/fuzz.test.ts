import fc from "fast-check";
import { expect, test } from "vitest";
import { sized, seed } from "../../../scripts/test-size.js";
import { burst, readResponses, sendBurst, type RawResponse } from "./support/fuzz.js";
import { collectGarbage } from "./support/garbage.js";
import { connectionsOf, issue, serve } from "./support/serve.js";

const REQUESTS = sized(400, 20_000, 500_000);
const CONNECTIONS = 40;

test(`${REQUESTS} requests of any kind: never 5xx, always the headers, an Error body on 4xx (PETSTORE_SEED=${seed})`, async () => {
  const plans = { fuzz: { perMinute: 100_000_000, perDay: 100_000_000 } };
  const { port, store, clock, server, call } = await serve({ store: { plans } });
  const key = await issue(store, "fuzz");
  let sent = 0;
  let heap = 0;
  const batch = fc.array(burst, { minLength: CONNECTIONS, maxLength: CONNECTIONS });
  const property = fc.asyncProperty(batch, async (bursts) => {
    if (sent >= REQUESTS) return;
    clock.advance(60_000);
    await Promise.all(
      bursts.map(async ({ bytes, requests }) => {
        const wire = bytes.replaceAll("{key}", key);
        sent += requests;
        const responses = readResponses(await sendBurst(port, wire));
        for (const response of responses) check(response, wire);
        // A server may ignore empty lines before a request (RFC 9112, section 2.2).
        if (/[^\r\n]/.test(wire)) expect(responses.length, wire).toBeGreaterThan(0);
      }),
    );
    if (heap === 0 && sent > REQUESTS / 4) heap = heapAfterCollection();
  });
  // A burst has about two requests and a half.
  await fc.assert(property, { seed, numRuns: Math.ceil(REQUESTS / CONNECTIONS / 2) });

  expect(sent).toBeGreaterThanOrEqual(REQUESTS);
  expect((await call()).status).toBe(200);
  await expect.poll(() => connectionsOf(server)).toBe(0);
  expect(heapAfterCollection() - heap).toBeLessThan(16 * 1_048_576);
});

function check({ status, head, body }: RawResponse, wire: string): void {
  // Not expect: a million of them take their time.
  const isFine =
    status >= 200 &&
    status < 500 &&
    ["limit", "remaining", "reset"].every((name) => head.includes(`\r\nx-ratelimit-${name}: `)) &&
    (body === undefined ? wire.includes("HEAD") : status < 400 || isError(body, status));
  if (!isFine) throw new Error(`${head}\n\n${String(body)}\n\nto ${JSON.stringify(wire)}`);
}

function isError(body: string, status: number): boolean {
  const error = JSON.parse(body) as Record<string, unknown>;
  return (
    Object.keys(error).join() === "code,message,status" &&
    typeof error["code"] === "string" &&
    typeof error["message"] === "string" &&
    error["status"] === status
  );
}

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
