import { createFetchHandler } from "@petstore/http-adapter";
import type { ClientEvent, PetsClient, PetsClientOptions } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { clientOf, never, stock } from "./support/stores.js";

const rex = { name: "Rex", categoryId: 7 };
const list = (client: PetsClient) => client.listPets();
const create = (client: PetsClient) => client.createPet(rex);

/** What comes of a request: a response of this status instead of the store's, or no response. */
type Step = number | Response | "lost" | "unsent" | "silent";

/** Calls a store whose first requests fail, before or after the store has handled them, and moves the clock. */
async function call<T>(
  steps: readonly Step[],
  act: (client: PetsClient) => PromiseLike<T>,
  options: PetsClientOptions = {},
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
  expect(outcome._unsafeUnwrap()).toMatchObject({
    pet: { id: 1n, ...rex, categoryId: 7n },
    replayed: false,
  });
  expect(new Set(keys).size).toBe(1);
  expect(keys).toHaveLength(steps.length + 1);
  expect((await store.trusted.listPets())._unsafeUnwrap().pets).toHaveLength(1);
});

test.each<readonly [readonly Step[], string]>([
  [[500, "lost", 502], "unexpected_response"],
  [[500, 500, "lost"], "unreachable"],
])("after three attempts that end with %j, the last error is the result", async (steps, code) => {
  const { keys, outcome } = await call(steps, list);
  expect(outcome._unsafeUnwrapErr()).toMatchObject({ code });
  expect(keys).toHaveLength(3);
});

test.each([400, 401, 404, 408, 409, 413, 415, 422, 301, 501])(
  "a %d is not sent again",
  async (status) => {
    const { keys, outcome } = await call([status], create);
    expect(outcome._unsafeUnwrapErr()).toMatchObject({ code: "unexpected_response", status });
    expect(keys).toHaveLength(1);
  },
);

test("each create has a key of its own, and a given key is sent as it is", async () => {
  const { keys } = await call([], async (client) => {
    await client.createPet(rex);
    await client.createPet(rex);
    await client.createPet(rex, { idempotencyKey: 'order"1' });
    await client.createPet(rex, { idempotencyKey: 'order"1"' });
  });
  expect(new Set(keys).size).toBe(4);
  expect(keys[3]).toBe('"order\\"1\\""');
});

const later = (seconds: string): Response =>
  new Response("{}", { status: 503, headers: { "Retry-After": seconds } });

test.each<[string, readonly Step[], readonly number[], string?]>([
  ["double", [500, 500, 500], [0.5, 1, 2]],
  ["never end before Retry-After", [later("7")], [7]],
  ["that would end after the deadline are not begun", [later("61")], [], "unexpected_response"],
])("waits %s", async (_, steps, seconds, code) => {
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(0xff);
  const { outcome, events } = await call(steps, list, { random, attempts: 4 });
  const waits = events.flatMap((event) => ("seconds" in event ? [event.seconds] : []));
  expect(waits).toEqual(seconds.map((each) => expect.closeTo(each, 1) as number));
  expect(outcome.isErr() ? outcome.error.code : undefined).toBe(code);
});

test("each step emits an event, also of a deprecated operation; errors of a listener are ignored", async () => {
  const onEvent = vi.fn(() => expect.fail("listener"));
  await call(["unsent"], (client) => client.getPet(1), { onEvent });
  const sunset = "Thu, 05 Dec 2030 00:00:00 GMT";
  expect(onEvent.mock.calls.flat()).toMatchObject([
    { type: "request", operation: "getPet", attempt: 1 },
    { type: "response", attempt: 1, status: undefined },
    { type: "retrying", attempt: 1, code: "unreachable" },
    { type: "request", attempt: 2 },
    { type: "response", attempt: 2, status: 404 },
    { type: "deprecated", operation: "getPet", sunset },
  ]);
});
