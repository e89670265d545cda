import { createFetchHandler } from "@petstore/http-adapter";
import type { ClientEvent, PetsClient, PetsClientOptions } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { clientOf, never, rex, stock, turns } from "./support/stores.js";

const create = (client: PetsClient) => client.createPet(rex);

/** What comes of a request: a response of this status instead of the store's, or no response. */
type Step = number | Response | "lost" | "unsent" | "silent";

/** Calls a store whose first requests fail, before or after the store has handled them, and moves the clock. */
async function call<T>(
  steps: readonly Step[],
  act: (client: PetsClient) => PromiseLike<T>,
  options: Partial<PetsClientOptions> = {},
) {
  const stocked = await stock();
  const { store, clock } = stocked;
  const handle = createFetchHandler(store);
  const keys: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    keys.push(request.headers.get("Idempotency-Key"));
    const step = steps[keys.length - 1];
    if (step === "unsent") throw new Error("refused");
    const response = await handle(request);
    if (step === "lost") throw new Error("reset");
    if (step === "silent") return never();
    return typeof step === "number" ? new Response("<html>", { status: step }) : (step ?? response);
  };
  const events: ClientEvent[] = [];
  const onEvent = (event: ClientEvent): unknown => events.push(event);
  const timer = setInterval(() => clock.advance(500), 5);
  const outcome = await act(clientOf(stocked, { fetch, onEvent, ...options }));
  clearInterval(timer);
  return { store, keys, outcome, events };
}

test.each<readonly [string, readonly Step[]]>([
  ["two responses that are lost", ["lost", "lost"]],
  ["no connection", ["unsent", "unsent"]],
  ["a 500 and a 502", [500, 502]],
  ["a 503 and a 504", [503, 504]],
  ["a silent server", ["silent"]],
])("a create survives %s, and happens once", async (_, steps) => {
  const { store, keys, outcome } = await call(steps, create);
  const pet = { id: 1n, ...rex, categoryId: 7n };
  expect(outcome._unsafeUnwrap()).toMatchObject({ pet, replayed: false });
  expect([keys.length, new Set(keys).size]).toEqual([steps.length + 1, 1]);
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toHaveLength(1);
});

test.each<readonly [readonly Step[], object]>([
  [[500, "lost", 502], { code: "unexpected_response", status: 502 }],
  [[500, 500, "lost"], { code: "unreachable" }],
  ...[400, 401, 404, 408, 409, 413, 415, 422, 301, 501].map(
    (status) => [[status], { code: "unexpected_response", status }] as const,
  ),
])("after attempts with %j there is no other; the last gives the error", async (steps, error) => {
  const { keys, outcome } = await call(steps, create);
  expect(outcome._unsafeUnwrapErr()).toMatchObject(error);
  expect(keys).toHaveLength(steps.length);
});

test("each create has a key of its own, and a given key is sent as it is", async () => {
  const { keys } = await call([], async (client) => {
    await client.createPet(rex);
    await client.createPet(rex);
    await client.createPet(rex, { idempotencyKey: 'order"1' });
    await client.createPet(rex, { idempotencyKey: 'order"1"' });
  });
  expect([new Set(keys).size, keys[3]]).toEqual([4, '"order\\"1\\""']);
});

const later = (seconds: string, remaining = "9", status = 503): Response => {
  const limits = { "X-RateLimit-Limit": "60", "X-RateLimit-Reset": "9999999999" };
  const headers = { ...limits, "X-RateLimit-Remaining": remaining, "Retry-After": seconds };
  return new Response("[]", { status, headers });
};

test.each<[string, readonly Step[], readonly number[], string?]>([
  ["double", [500, 500, 500], [0.5, 1, 2]],
  ["never end before Retry-After", [later("7")], [7]],
  ["are not those of the address that a failing server names", [later("7", "0")], [7]],
  ["that would end after the deadline are not begun", [later("61")], [], "unexpected_response"],
])("waits %s", async (_, steps, seconds, code) => {
  const options = { attempts: 4, random: (size: number) => new Uint8Array(size).fill(0xff) };
  const { outcome, events } = await call(steps, (client) => client.listPets(), options);
  const waits = events.flatMap((event) => ("seconds" in event ? [event.seconds] : []));
  expect(waits).toEqual(seconds.map((each) => expect.closeTo(each, 1) as number));
  expect(outcome.isErr() ? outcome.error.code : undefined).toBe(code);
});

test.each<[errors: string, fail: () => unknown]>([
  ["errors", () => expect.fail("listener")],
  ["rejections", () => Promise.reject(new Error("listener"))],
])("each step emits an event, deprecated or not; %s of a listener are ignored", async (_, fail) => {
  const onEvent = vi.fn(fail);
  await call(["unsent"], (client) => client.getPet(1), { onEvent });
  const sunset = "Thu, 05 Dec 2030 00:00:00 GMT";
  expect(onEvent.mock.calls.flat()).toMatchObject([
    { type: "request", operation: "getPet", attempt: 1 },
    { type: "response", attempt: 1, status: undefined },
    { type: "retrying", attempt: 1, code: "unreachable" },
    { type: "request", attempt: 2 },
    { type: "response", attempt: 2, status: 404 },
    { type: "deprecated_operation_used", operation: "getPet", sunset },
  ]);
});

test("calls wait until the gate opens; those that cannot wait that long get the refusal, with the seconds that are left", async () => {
  const stocked = await stock();
  const { store, clock, key } = stocked;
  for (let request = 0; request < 60; request += 1) await store.as(key).listPets();
  const events: ClientEvent[] = [];
  const client = clientOf(stocked, { onEvent: (event) => events.push(event) });
  const waits = () => events.flatMap((event) => (event.type === "waiting" ? [event.seconds] : []));
  const calls = [10, 20, 200].map((deadlineSeconds) => client.listPets({}, { deadlineSeconds }));
  const refusedFor = (tens: number) => ({
    code: "rate_limit_exceeded",
    message: expect.stringMatching(`; come back in ${tens}[01] seconds\\.$`) as string,
  });
  for (const call of calls.slice(0, 2))
    expect((await call)._unsafeUnwrapErr()).toMatchObject(refusedFor(6));
  // They wait for the end of the first one; the last one then waits for the gate.
  expect(waits()).toEqual([0, 0]);
  clock.advance(20_000);
  const later = await client.listPets({}, { deadlineSeconds: 10 });
  expect(later._unsafeUnwrapErr()).toMatchObject(refusedFor(4));
  calls.push(client.listPets({}, { deadlineSeconds: 100 }));
  await turns(20);
  expect(waits()).toEqual([0, 0, expect.closeTo(40, 0)]);
  clock.advance(39_000);
  await turns(20);
  expect(events.filter(({ type }) => type === "request")).toHaveLength(1);
  clock.advance(2_000);
  for (const call of calls.slice(2)) expect((await call).isOk()).toBe(true);
});

test("calls behind a proxy's 429 get that response, as it was", async () => {
  const refused = () => new Response("no", { status: 429, headers: { "Retry-After": "9" } });
  const fetch = vi.fn(() => Promise.resolve(refused()));
  const client = clientOf(await stock(), { fetch });
  const calls = [1, 2].map(() => client.listPets({}, { deadlineSeconds: 1 }));
  for (const outcome of await Promise.all(calls)) {
    const error = outcome._unsafeUnwrapErr();
    expect(error).toMatchObject({ code: "unexpected_response", status: 429 });
    expect(error).not.toHaveProperty("retryAfterSeconds");
  }
  expect(fetch).toHaveBeenCalledOnce();
});

test("calls that were refused go before newer ones, in their order, when their time has come", async () => {
  let sent = "";
  const fetch = ({ url }: Request) => {
    sent += url.slice(-1);
    return Promise.resolve(later("1", "9", ["12", "123"].includes(sent) ? 429 : 200));
  };
  const stocked = await stock();
  const client = clientOf(stocked, { fetch, maxInFlight: 2 });
  const calls = [1, 2, 3, 4].map((limit) => client.listPets({ limit }));
  await turns(20);
  stocked.clock.advance(2_000);
  expect([(await Promise.all(calls)).every((call) => call.isOk()), sent]).toEqual([true, "123234"]);
});
