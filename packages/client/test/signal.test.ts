import { getEventListeners, setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { createPetsClient, type PetsClient } from "@petstore/client";
import { createFetchHandler } from "@petstore/http-adapter";
import { expect, test, vi } from "vitest";
import { clientOf, stock } from "./support/stores.js";

const rex = { name: "Rex", categoryId: 7 };

/** A body that never ends. Tells when it is cancelled. */
function endless(onCancel: () => void): Response {
  return new Response(new ReadableStream({ cancel: onCancel }), { status: 200 });
}

/** Where a call can be when its signal ends it: starts a client, and resolves when a call would be there. */
const phases: readonly (readonly [string, () => Promise<PetsClient>])[] = [
  ["before it starts", () => Promise.resolve(createPetsClient({ fetch: never }))],
  ["sending", () => Promise.resolve(createPetsClient({ fetch: never }))],
  [
    "reading",
    () =>
      Promise.resolve(createPetsClient({ fetch: () => Promise.resolve(endless(() => undefined)) })),
  ],
  [
    "queued",
    async () => {
      const client = createPetsClient({ fetch: never });
      void client.listPets();
      await setImmediate();
      return client;
    },
  ],
  [
    "waiting for the gate",
    async () => {
      const client = clientOf(await stock());
      for (let count = 0; count < 60; count += 1) await client.listPets();
      return client;
    },
  ],
  [
    "waiting to retry",
    () =>
      Promise.resolve(
        createPetsClient({ backoffSeconds: 100, fetch: () => Promise.reject(new Error("down")) }),
      ),
  ],
];

const never = (): Promise<Response> => new Promise(() => undefined);

test.each(phases)(
  "a signal ends a call at once when it is %s, and keeps no listener",
  async (phase, start) => {
    const client = await start();
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error("enough");
    if (phase === "before it starts") controller.abort(reason);
    let outcome: unknown;
    void client
      .createPet(rex, { signal, deadlineSeconds: 1_000 })
      .then((result) => (outcome = result));
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();

    if (phase !== "before it starts") expect(outcome).toBeUndefined();
    controller.abort(reason);
    await setImmediate();
    expect(outcome).toMatchObject({ error: { code: "aborted", cause: reason } });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  },
);

test("a signal keeps no listener after a call that succeeds, and one that times out", async () => {
  const { signal } = new AbortController();
  const stocked = await stock();
  expect((await clientOf(stocked).listPets({}, { signal })).isOk()).toBe(true);
  const late = clientOf(stocked, { fetch: never }).listPets({}, { signal });
  await setImmediate();
  stocked.clock.advance(60_000);
  expect((await late)._unsafeUnwrapErr()).toMatchObject({ code: "timed_out" });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a body or a response that arrives after the end of its call is cancelled", async () => {
  let cancelled = 0;
  const response = (): Response => endless(() => (cancelled += 1));
  for (const isLate of [false, true]) {
    let respond: () => void = () => undefined;
    const client = createPetsClient({
      fetch: () =>
        new Promise((resolve) => {
          respond = () => resolve(response());
          if (!isLate) respond();
        }),
    });
    const controller = new AbortController();
    const call = client.listPets({}, { signal: controller.signal });
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    controller.abort();
    expect((await call)._unsafeUnwrapErr()).toMatchObject({ code: "aborted" });
    respond();
  }
  await vi.waitFor(() => expect(cancelled).toBe(2));
});

test("an aborted call gives its place in the gate back", async () => {
  const stocked = await stock();
  const client = clientOf(stocked);
  const controller = new AbortController();
  setMaxListeners(20, controller.signal);
  const calls = Array.from({ length: 20 }, () =>
    client.listPets({}, { signal: controller.signal }),
  );
  controller.abort();
  expect((await Promise.all(calls)).every((outcome) => outcome.isErr())).toBe(true);
  expect((await client.listPets()).isOk()).toBe(true);
});

test("a deadline beyond 2^31 milliseconds does not come early", async () => {
  vi.useFakeTimers();
  try {
    const client = createPetsClient({
      fetch: never,
      attempts: 1,
      attemptSeconds: 2 ** 23,
      deadlineSeconds: 2 ** 24,
    });
    let outcome: unknown;
    void client.listPets().then((result) => (outcome = result));
    await vi.advanceTimersByTimeAsync(2 ** 23 * 1_000 - 1);
    expect(outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome).toMatchObject({ error: { code: "timed_out" } });
  } finally {
    vi.useRealTimers();
  }
});

test("a loop of refused calls lets everything else run", async () => {
  const stocked = await stock();
  const client = createPetsClient({
    apiKey: stocked.key,
    fetch: createFetchHandler(stocked.store),
  });
  for (let count = 0; count < 60; count += 1) await client.listPets();
  const over = new AbortController();
  setTimeout(() => over.abort(), 20);
  let refused = 0;
  while (!over.signal.aborted) {
    if ((await client.listPets({}, { deadlineSeconds: 1 })).isErr()) refused += 1;
  }
  expect(refused).toBeGreaterThan(0);
});
