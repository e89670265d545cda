import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { compose, serve, type Served } from "./support/serve.js";

const remainingOf = async ({ call }: Served, ...headers: string[]): Promise<string | undefined> =>
  (await call({ key: null, headers })).headers["x-ratelimit-remaining"];

test("X-Forwarded-For is not trusted unasked", async () => {
  const served = await serve();
  expect(await remainingOf(served, "X-Forwarded-For: 192.0.2.1")).toBe("59");
  expect(await remainingOf(served, "X-Forwarded-For: 192.0.2.2")).toBe("58");
});

test("the host's own function tells callers apart", async () => {
  const served = await serve({ origin: forwardedFor });
  expect(await remainingOf(served, "X-Forwarded-For: 192.0.2.1")).toBe("59");
  expect(await remainingOf(served, "X-Forwarded-For: 192.0.2.2")).toBe("59");
  expect(await remainingOf(served, "X-Forwarded-For: 192.0.2.1")).toBe("58");
});

test("it tells the callers of one connection apart, as those behind a proxy are", async () => {
  const { dial } = await serve({ origin: forwardedFor });
  const wire = await dial();
  const remaining: (string | undefined)[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) {
    wire.send(compose({ headers: [`X-Forwarded-For: ${address}`] }));
    remaining.push((await wire.answer()).headers["x-ratelimit-remaining"]);
  }
  expect(remaining).toEqual(["59", "59", "58"]);
});

test("when that function throws, the socket's address counts, and the host is told", async () => {
  const causes: unknown[] = [];
  const served = await serve({ origin: fail, onError: (cause) => causes.push(cause) });
  expect(await remainingOf(served)).toBe("59");
  expect(await remainingOf(served)).toBe("58");
  expect(served.store.anonymousQuota("127.0.0.1").remaining).toBe(58);
  expect(causes).toEqual([new Error("no origin"), new Error("no origin")]);
});

test.each([
  ["a promise", async () => Promise.resolve("192.0.2.1")],
  ["a promise that rejects", async () => Promise.reject(new Error("no origin"))],
  ["a number", () => 7],
])("when it answers %s, the socket's address counts, and the host is told", async (_, origin) => {
  const causes: unknown[] = [];
  const served = await serve({
    origin: origin as () => never,
    onError: (cause) => causes.push(cause),
  });
  expect(await remainingOf(served)).toBe("59");
  expect(served.store.anonymousQuota("127.0.0.1").remaining).toBe(59);
  expect(causes).toContainEqual(new TypeError("origin must answer a text or undefined"));
});

function forwardedFor({ headers }: IncomingMessage): string | undefined {
  return headers["x-forwarded-for"]?.toString();
}

function fail(): string {
  throw new Error("no origin");
}
