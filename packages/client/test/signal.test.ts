import { getEventListeners } from "node:events";
import { createPetsClient, type PetsClient, type PetsClientOptions } from "@petstore/client";
import { expect, test, vi } from "vitest";
import { fakeTimers, hostTimers } from "../../../scripts/fake-timers.js";
import { ANY, clientOf, never, rex, stock, turns } from "./support/stores.js";

const endless = (cancel = (): void => undefined): Response =>
  new Response(new ReadableStream({ cancel }));

test.each<[string, Partial<PetsClientOptions>]>([
  ["before it starts", { fetch: never }],
  ["sending", { fetch: never }],
  ["reading", { fetch: () => Promise.resolve(endless()) }],
  ["queued behind another", { fetch: never }],
  ["waiting for the gate", {}],
  ["waiting to retry", { backoffSeconds: 100, fetch: () => Promise.reject(new Error("down")) }],
])("a signal ends a call at once when it is %s, and leaves nothing", async (phase, options) => {
  fakeTimers("setTimeout", "clearTimeout");
  const client = clientOf(await stock(), { clock: undefined, ...options });
  if (phase === "queued behind another") void client.listPets();
  if (phase === "waiting for the gate") await useUp(client);
  await turns(1);
  const timers = vi.getTimerCount();
  const controller = new AbortController();
  const { signal } = controller;
  const reason = new Error("enough");
  if (phase === "before it starts") controller.abort(reason);
  let outcome: unknown;
  const call = client.createPet(rex, { signal, deadlineSeconds: 1_000 });
  void call.then((result) => (outcome = result));
  await turns(3);

  if (phase !== "before it starts") expect(outcome).toBeUndefined();
  controller.abort(reason);
  await turns(1);
  expect(outcome).toMatchObject({ error: { code: "aborted", cause: reason } });
  expect([getEventListeners(signal, "abort"), vi.getTimerCount()]).toEqual([[], timers]);
});

async function useUp(client: PetsClient): Promise<void> {
  for (let count = 0; count < 60; count += 1) await client.listPets();
}

test("a signal keeps no listener after a call that succeeds, and one that times out, which it does not change", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const stocked = await stock();
  expect((await clientOf(stocked).listPets({}, { signal })).isOk()).toBe(true);
  const onEvent = ({ type }: { type: string }) => type === "response" && controller.abort();
  const late = clientOf(stocked, { fetch: never, onEvent }).listPets({}, { signal });
  await turns(1);
  stocked.clock.advance(60_000);
  expect((await late)._unsafeUnwrapErr()).toMatchObject({ code: "timed_out" });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a body or a response that arrives after the end of its call is cancelled", async () => {
  let cancelled = 0;
  for (const isLate of [false, true]) {
    let respond: () => void = () => undefined;
    const fetch = () =>
      new Promise<Response>((resolve) => {
        respond = () => resolve(endless(() => (cancelled += 1)));
        if (!isLate) respond();
      });
    const client = createPetsClient({ ...ANY, fetch });
    const controller = new AbortController();
    const call = client.listPets({}, { signal: controller.signal });
    await turns(3);
    controller.abort();
    expect((await call)._unsafeUnwrapErr()).toMatchObject({ code: "aborted" });
    respond();
  }
  await vi.waitFor(() => expect(cancelled).toBe(2));
});

test("aborted calls share one listener, and give their places in the gate back", async () => {
  const client = clientOf(await stock());
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: 20 }, () => client.listPets({}, { signal }));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  controller.abort();
  expect((await Promise.all(calls)).every((outcome) => outcome.isErr())).toBe(true);
  expect((await client.listPets()).isOk()).toBe(true);
});

test("a deadline beyond 2^31 milliseconds does not come early", async () => {
  hostTimers();
  const attemptSeconds = 2 ** 23;
  const times = { attempts: 1, attemptSeconds, deadlineSeconds: 2 ** 24 };
  const client = createPetsClient({ ...ANY, fetch: never, ...times });
  let outcome: unknown;
  void client.listPets().then((result) => (outcome = result));
  await vi.advanceTimersByTimeAsync(attemptSeconds * 1_000 - 1);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  const message = `The attempt did not end within ${attemptSeconds} seconds.`;
  expect(outcome).toMatchObject({ error: { code: "timed_out", message } });
});

test("a loop of refused calls lets everything else run", async () => {
  const client = clientOf(await stock(), { clock: undefined });
  await useUp(client);
  const over = new AbortController();
  setTimeout(() => over.abort(), 20);
  let refused = 0;
  while (!over.signal.aborted) {
    if ((await client.listPets({}, { deadlineSeconds: 1 })).isErr()) refused += 1;
  }
  expect(refused).toBeGreaterThan(0);
});
