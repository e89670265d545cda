import { createFetchHandler } from "@petstore/http-adapter";
import type { ClientEvent, PetsClientOptions } from "@petstore/client";
import { expect, test } from "vitest";
import { clientOf, stock, type Stocked } from "./support/stores.js";

const rex = { name: "Rex", categoryId: 7 };
type Step = number | "lost" | "unsent" | "silent" | ((response: Response) => Response);

/** A `fetch` that fails first, before or after the store has handled the request, and then serves. */
function failing({ store }: Stocked, steps: readonly Step[]) {
  const handle = createFetchHandler(store);
  const keys: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    keys.push(request.headers.get("Idempotency-Key"));
    const step = steps[keys.length - 1];
    if (step === "unsent") throw new Error("refused");
    const response = await handle(request);
    if (step === "lost") throw new Error("reset");
    if (step === "silent") return new Promise(() => undefined);
    if (typeof step === "function") return step(response);
    return step === undefined ? response : new Response("<html>", { status: step });
  };
  return { fetch, keys };
}

/** Runs a call to its end, and moves the clock for it. */
async function finish<T>({ clock }: Stocked, call: PromiseLike<T>): Promise<T> {
  const timer = setInterval(() => clock.advance(500), 5);
  const result = await call;
  clearInterval(timer);
  return result;
}

test.each<readonly [string, readonly Step[]]>([
  ["two responses that are lost", ["lost", "lost"]],
  ["no connection", ["unsent", "unsent"]],
  ["a 500 and a 502", [500, 502]],
  ["a 503 and a 504", [503, 504]],
  ["a silent server", ["silent"]],
])("a create survives %s, and happens once", async (_, steps) => {
  const stocked = await stock();
  const { fetch, keys } = failing(stocked, steps);
  const created = await finish(stocked, clientOf(stocked, { fetch }).createPet(rex));
  expect(created._unsafeUnwrap()).toMatchObject({
    pet: { id: 1n, ...rex, categoryId: 7n },
    replayed: false,
  });
  expect(new Set(keys).size).toBe(1);
  expect(keys).toHaveLength(steps.length + 1);
  expect((await stocked.store.trusted.listPets())._unsafeUnwrap().pets).toHaveLength(1);
});

test("after three attempts, the last error is the result", async () => {
  for (const [steps, code] of [
    [[500, "lost", 502], "unexpected_response"],
    [[500, 500, "lost"], "unreachable"],
  ] as const) {
    const stocked = await stock();
    const { fetch, keys } = failing(stocked, steps);
    const outcome = await finish(stocked, clientOf(stocked, { fetch }).listPets());
    expect(outcome._unsafeUnwrapErr()).toMatchObject({ code });
    expect(keys).toHaveLength(3);
  }
});

test.each([400, 401, 404, 408, 409, 413, 415, 422, 301, 501])(
  "a %d is not sent again",
  async (status) => {
    const stocked = await stock();
    const { fetch, keys } = failing(stocked, [status]);
    const outcome = await clientOf(stocked, { fetch }).createPet(rex);
    expect(outcome._unsafeUnwrapErr()).toMatchObject({ code: "unexpected_response", status });
    expect(keys).toHaveLength(1);
  },
);

test("each create has a key of its own, and a given key is sent as it is", async () => {
  const stocked = await stock();
  const { fetch, keys } = failing(stocked, []);
  const client = clientOf(stocked, { fetch });
  await client.createPet(rex);
  await client.createPet(rex);
  await client.createPet(rex, { idempotencyKey: 'order"1' });
  await client.createPet(rex, { idempotencyKey: 'order"1"' });
  expect(new Set(keys).size).toBe(4);
  expect(keys[3]).toBe('"order\\"1\\""');
});

/** The seconds of each wait, from its event. */
async function waits(steps: readonly Step[], options: PetsClientOptions = {}) {
  const stocked = await stock();
  const events: ClientEvent[] = [];
  const onEvent = (event: ClientEvent): unknown => events.push(event);
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(0xff);
  const { fetch } = failing(stocked, steps);
  const client = clientOf(stocked, { fetch, onEvent, random, ...options });
  const outcome = await finish(stocked, client.listPets());
  const seconds = events.flatMap((event) =>
    "seconds" in event ? [Math.round(event.seconds * 10) / 10] : [],
  );
  return { outcome, seconds, events };
}

test("waits double, and never end before Retry-After", async () => {
  expect((await waits([500, 500, 500], { attempts: 4 })).seconds).toEqual([0.5, 1, 2]);
  const later = new Response("{}", { status: 503, headers: { "Retry-After": "7" } });
  expect((await waits([() => later])).seconds).toEqual([7]);
});

test("a wait that would end after the deadline is not begun", async () => {
  const later = new Response("{}", { status: 503, headers: { "Retry-After": "61" } });
  const { outcome, seconds } = await waits([() => later]);
  expect(seconds).toEqual([]);
  expect(outcome._unsafeUnwrapErr()).toMatchObject({ code: "unexpected_response", status: 503 });
});

test("each step emits an event, also of a deprecated operation; errors of a listener are ignored", async () => {
  const stocked = await stock();
  const events: ClientEvent[] = [];
  const onEvent = (event: ClientEvent): never => {
    events.push(event);
    throw new Error("listener");
  };
  const { fetch } = failing(stocked, ["unsent"]);
  await finish(stocked, clientOf(stocked, { fetch, onEvent }).getPet(1));
  const sunset = "Thu, 05 Dec 2030 00:00:00 GMT";
  expect(events).toMatchObject([
    { type: "request", operation: "getPet", attempt: 1 },
    { type: "response", attempt: 1, status: undefined },
    { type: "retrying", attempt: 1, code: "unreachable" },
    { type: "request", attempt: 2 },
    { type: "response", attempt: 2, status: 404 },
    { type: "deprecated", operation: "getPet", sunset },
  ]);
});
