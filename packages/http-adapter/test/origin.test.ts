import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { compose, serve } from "./support/serve.js";

test("a host can give the requests of one connection different origins, as behind a proxy", async () => {
  const { dial } = await serve({ origin: forwardedFor });
  const wire = await dial();
  const remaining: (string | undefined)[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) {
    wire.send(compose({ headers: [`X-Forwarded-For: ${address}`] }));
    remaining.push((await wire.response()).headers["x-ratelimit-remaining"]);
  }
  expect(remaining).toEqual(["59", "59", "58"]);
});

test("a function that throws is a bug of the host: 500 without a charge, and a reported error", async () => {
  const causes: unknown[] = [];
  const bug = new Error("no origin");
  const { call, store } = await serve({
    origin: () => {
      throw bug;
    },
    onError: (cause) => causes.push(cause),
  });
  const { status, headers } = await call();
  expect([status, headers["x-ratelimit-remaining"]]).toEqual([500, "60"]);
  expect(causes).toEqual([bug]);
  expect(store.anonymousQuota().remaining).toBe(60);
});

function forwardedFor({ headers }: IncomingMessage): string | undefined {
  return headers["x-forwarded-for"]?.toString();
}
