import { setImmediate } from "node:timers/promises";
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
  expect([new Set(keys).size, keys[3]]).toEqual([4, '"order\\"1\\""']);
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

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
};

test("calls wait until the gate opens; those that cannot wait that long get the refusal, with the seconds that are left", async () => {
  const stocked = await stock();
  const { store, clock, key } = stocked;
  // Another process uses up the minute of the key.
  for (let request = 0; request < 60; request += 1) await store.as(key).listPets();
  const events: ClientEvent[] = [];
  const client = clientOf(stocked, { onEvent: (event) => events.push(event) });
  const waits = () => events.flatMap((event) => (event.type === "waiting" ? [event.seconds] : []));
  const calls = [10, 20, 200].map((deadlineSeconds) => client.listPets({}, { deadlineSeconds }));
  for (const call of calls.slice(0, 2))
    expect((await call)._unsafeUnwrapErr()).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringMatching(/; come back in 6[01] seconds\.$/) as string,
    });
  // They wait for the end of the first one; the last one then waits for the gate.
  expect(waits()).toEqual([0, 0]);
  clock.advance(20_000);
  expect((await client.listPets({}, { deadlineSeconds: 10 }))._unsafeUnwrapErr()).toMatchObject({
    message: expect.stringMatching(/; come back in 4[01] seconds\.$/) as string,
  });
  calls.push(client.listPets({}, { deadlineSeconds: 100 }));
  await turns();
  expect(waits()).toEqual([0, 0, expect.closeTo(40, 0)]);
  clock.advance(39_000);
  await turns();
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

test("a call that was refused goes before newer ones when its time has come", async () => {
  const sent: string[] = [];
  const fetch = ({ url }: Request) =>
    Promise.resolve(
      new Response("[]", { status: sent.push(new URL(url).search) === 1 ? 429 : 200 }),
    );
  const stocked = await stock();
  const client = clientOf(stocked, { fetch });
  const calls = [1, 2].map((limit) => client.listPets({ limit }));
  await turns();
  stocked.clock.advance(2_000);
  expect((await Promise.all(calls)).every((call) => call.isOk())).toBe(true);
  expect(sent).toEqual(["?limit=1", "?limit=1", "?limit=2"]);
});

test("questions during a day that is used up do not ban a key of one request a minute", async () => {
  const stocked = await stock();
  const limits = { perMinute: 1, perDay: 1 };
  const issued = await stocked.store.keys.issue({ plan: "enterprise", limits });
  const client = clientOf({ ...stocked, key: issued._unsafeUnwrap().secret });
  const codes: unknown[] = [];
  for (let hour = 0; hour <= 24; hour += 1) {
    const listed = await client.listPets({}, { deadlineSeconds: 1 });
    codes.push(listed.isOk() ? "ok" : listed.error.code);
    stocked.clock.advance(3_600_000);
  }
  expect(codes).toEqual(["ok", ...Array<string>(23).fill("rate_limit_exceeded"), "ok"]);
});
